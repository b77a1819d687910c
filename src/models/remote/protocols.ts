/** The protocols, keyed by their names in catalogue rows. */
import type { Runs } from '../registry/catalogue.ts';
import { COHERE, LECTERN, OPENAI } from './hosted-protocols.ts';
import type { Protocol } from './protocol.ts';
import { INFINITY, OLLAMA, TEI, VLLM } from './server-protocols.ts';

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
