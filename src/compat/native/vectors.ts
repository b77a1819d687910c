/** Vectors of a native embedding for responses of dialects. */
import type { FastifyReply } from 'fastify';
import { finishVector, rowsOf, vectorAsJson } from '#models/index.ts';
import type { Embedded } from './models.ts';

/** One vector for each input, with the length and scale that the request asks for. */
export const vectorsOf = ({ request, embeddings }: Embedded): Float32Array[] =>
  embeddings.outputs.map(({ values }) => finishVector(values, request));

/** One vector for each token of each input. */
export const tokenVectorsOf = ({ request, embeddings }: Embedded): Float32Array[][] =>
  embeddings.outputs.map((output) => rowsOf(output).map((row) => finishVector(row, request)));

/** Numbers as JSON, with the digits that a single-precision number has. */
export const vectorJson = (vector: Float32Array): string => vectorAsJson(vector, ['float']);

export const listJson = (items: readonly string[]): string => `[${items.join(',')}]`;

/** Sends text that is JSON already. Vectors are written by `vectorJson`, which is faster and shorter. */
export const sendJsonText = (reply: FastifyReply, json: string): FastifyReply =>
  reply.type('application/json; charset=utf-8').send(json);
