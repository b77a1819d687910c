/** Adds up the costs of the operations of one request, because an admission keeps only the last cost. */
import type { FastifyRequest } from 'fastify';
import type { NativeCall } from './native.ts';

const costs = new WeakMap<FastifyRequest, number>();

export function addCost({ request, admission }: NativeCall, tokens: number, model = ''): void {
  const sum = (costs.get(request) ?? 0) + tokens;
  costs.set(request, sum);
  admission.recordCost({ tokens: sum, model });
}
