/** The response to `GET /` without a target: how to use this host, and the caller's name and balance. */
import type { FastifyReply } from 'fastify';
import type { Caller } from '#accounts/index.ts';
import type { BodyKind } from '#http/negotiate.ts';
import { success } from '../envelopes/reader.ts';

export interface IndexPage {
  readonly usage1: string;
  readonly usage2: string;
  readonly homepage: string;
  /** A notice for the caller. */
  readonly note?: string;
}

export function writeIndex(reply: FastifyReply, kind: BodyKind, index: IndexPage, caller: Caller) {
  const own =
    caller.kind === 'key'
      ? { authenticatedAs: caller.key.name, balanceLeft: caller.account.balance ?? 'unlimited' }
      : {};
  if (kind === 'json') {
    return reply
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(success({ ...index, ...own }, { usage: { tokens: 0 } })));
  }
  const text = [lines(index), lines(own)].filter(Boolean).join('\n');
  return reply.type('text/plain; charset=utf-8').send(text);
}

const lines = (entries: object) =>
  Object.entries(entries)
    .map(([key, value]) => `[${label(key)}] ${value}\n`)
    .join('');

/** `usage1` becomes "Usage 1", `balanceLeft` "Balance left". */
function label(key: string): string {
  const words = key.replace(/([a-z])([A-Z0-9])/g, '$1 $2').toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
