/** What goes in and out of the admin API. Times are ISO 8601, amounts tokens. */
import * as z from 'zod';
import { NAME, USAGE_GROUPS, type UsageGroup } from '#accounts/index.ts';
import { problem } from '#errors.ts';
import { PLAN_NAMES } from '#plans.ts';

const name = z.string().regex(NAME, 'must be one line of 1 to 200 characters').describe('A name for people, one line.');
/** What an id can look like: PostgreSQL has no texts with a NUL in them. */
export const ID = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const id = (what: string) => z.string().regex(ID, 'must be an id').describe(what);
const plan = z.enum(PLAN_NAMES);
const balance = z.int().min(0).nullable().describe('Tokens left; null when none are counted.');
const time = (meaning: string) => z.iso.datetime().describe(meaning);
const expiry = z.iso
  .datetime({ offset: true, error: 'must be a time in ISO 8601 with its zone, or null' })
  .transform((text) => Date.parse(text))
  .nullable()
  .describe('When the key ends, ISO 8601 with a zone; null for never.');

export const newAccount = z.strictObject({ name, plan, balance: balance.optional() });
export const accountChange = z.strictObject({
  name: name.optional(),
  plan: plan.optional(),
  balance: balance.optional(),
  addBalance: z.int().optional().describe('Tokens added to the balance, or taken from it; it never falls below zero.'),
});
export const newKey = z.strictObject({
  name,
  accountId: id('The account it belongs to; `default` without one.').optional(),
  expiresAt: expiry.optional(),
  key: z
    .string()
    .regex(/^[\x21-\x7e]{32,512}$/, 'must be 32 to 512 visible ASCII characters without spaces')
    .optional()
    .describe('A key of your own, 32 to 512 visible ASCII characters; one is made without it.'),
});
export const keyChange = z.strictObject({ name: name.optional(), expiresAt: expiry.optional() });

const limit = z.coerce
  .number<string>()
  .int()
  .min(1)
  .max(1000)
  .default(100)
  .describe('How many at most, 1 to 1000; 100 without it.');
const after = id('The id behind which the list goes on: `next` of the answer before.').optional();
export const accountList = z.strictObject({ limit, after });
export const keyList = z.strictObject({ accountId: id('Only keys of this account.').optional(), limit, after });

const groups = z
  .string()
  .transform((text) => text.split(',').map((word) => word.trim()))
  .refine((words): words is UsageGroup[] => words.every((word) => USAGE_GROUPS.includes(word as UsageGroup)), {
    error: `must be of ${USAGE_GROUPS.join(', ')}, parted by commas`,
  });
const day = z.iso.date('must be a day: YYYY-MM-DD');
export const usageQuery = z.strictObject({
  by: groups.optional().describe(`What sums are grouped by, parted by commas: ${USAGE_GROUPS.join(', ')}.`),
  from: day.optional().describe('The first day, UTC.'),
  to: day.optional().describe('The last day, UTC.'),
  accountId: id('Only of this account.').optional(),
  keyId: id('Only of this key.').optional(),
});

export const accountShape = z.strictObject({
  id: z.string(),
  name,
  plan,
  balance,
  createdAt: time('When it was made.'),
});
export const keyShape = z.strictObject({
  id: z.string(),
  accountId: z.string(),
  name,
  shown: z.string().describe('The start of the key.'),
  createdAt: time('When it was made.'),
  expiresAt: time('When it ends.').nullable(),
  revokedAt: time('When it was revoked.').nullable(),
  lastUsedAt: time('When it was used last, to the minute.').nullable(),
});
export const madeKeyShape = keyShape.extend({ key: z.string().describe('The key; it is told this once.') });
export const usageShape = z.strictObject({
  ...Object.fromEntries(USAGE_GROUPS.map((group) => [group, z.string().optional()])),
  requests: z.int(),
  failed: z.int().describe('Those answered with a status of 400 and above.'),
  tokens: z.int(),
  durationMs: z.int(),
});
export const planShape = z.looseObject({
  name: plan,
  concurrency: z.int().optional(),
  features: z.array(z.string()),
  endpoints: z.record(
    z.string(),
    z.strictObject({ requestsPerMinute: z.int().optional(), tokensPerMinute: z.int().optional() }),
  ),
});

/** The value that a caller gave, or a ParamValidationError that names every fault. */
export function checked<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: key, message: 'there is no such field' }))
      : [{ path: issue.path.join('.') || 'body', message: issue.message }],
  );
  throw problem('ParamValidationError', {
    path: faults[0]!.path,
    message: faults.map(({ path, message }) => `${path}: ${message}`).join('; '),
    faults,
  });
}
