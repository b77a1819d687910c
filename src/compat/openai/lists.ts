/** Lists in pages: `limit`, and the last id of the page before. */
import * as z from 'zod';
import type { CompatCall } from '../dialect.ts';
import { numberText, readFields } from '../fields.ts';

export interface PageLimits {
  readonly standard: number;
  readonly most: number;
}

/** An id or a name, without characters that a database refuses. */
export const word = () => z.string().regex(/^[\w-]{1,100}$/, 'must consist of letters, digits, `_` and `-`');

/** The parameters of a list. `more` has those of one list only. */
export function readPage<More extends z.ZodRawShape>(call: CompatCall, { standard, most }: PageLimits, more: More) {
  const limit = numberText().pipe(z.number().int().min(1).max(most)).default(standard);
  return readFields(z.object({ limit, after: word().optional(), ...more }), call.query);
}

/** `found` has one entry more than the page if there is a further page. */
export function pageJson<Entry extends { readonly id: string }>(found: readonly Entry[], limit: number) {
  const data = found.slice(0, limit);
  return {
    object: 'list',
    data,
    first_id: data[0]?.id ?? null,
    last_id: data.at(-1)?.id ?? null,
    has_more: found.length > limit,
  };
}
