/** The protocols, keyed by their names in catalogue rows. */
import type { Runs } from '../registry/catalogue.ts';
import { COHERE } from './cohere.ts';
import { INFINITY } from './infinity.ts';
import { LECTERN } from './lectern.ts';
import { OLLAMA } from './ollama.ts';
import { OPENAI } from './openai.ts';
import type { Protocol } from './protocol.ts';
import { TEI } from './tei.ts';
import { VLLM } from './vllm.ts';

export type RemoteRuns = Extract<Runs, { readonly on: 'remote' }>;

export const PROTOCOLS: Readonly<Record<RemoteRuns['protocol'], Protocol>> = {
  openai: OPENAI,
  tei: TEI,
  vllm: VLLM,
  infinity: INFINITY,
  ollama: OLLAMA,
  cohere: COHERE,
  lectern: LECTERN,
};
