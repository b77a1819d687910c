/** The request and response schemas of the admin API. Times are ISO 8601, amounts are tokens. */
import * as z from 'zod';
import { NAME_PATTERN, USAGE_GROUPS, type UsageGroup } from '#accounts/index.ts';
import { problem } from '#errors.ts';
import { PLAN_NAMES } from '#plans.ts';
import { MAX_HOSTS } from '#telemetry/host-times.ts';

const name = z
  .string()
  .regex(NAME_PATTERN, 'must be one line of 1 to 200 characters')
  .describe('A display name: one line of 1 to 200 characters.');
/** A valid id. Excludes NUL, which PostgreSQL cannot store in text. */
export const ID_PATTERN = /^[^\p{Cc}\p{Cs}]{1,200}$/u;
const id = (what: string) => z.string().regex(ID_PATTERN, 'must be an id').describe(what);
const plan = z.enum(PLAN_NAMES);
const balance = z
  .int()
  .min(0)
  .nullable()
  .describe('Tokens left; null for an account that has no balance and is never charged.');
const time = (meaning: string) => z.iso.datetime().describe(meaning);
const expiry = z.iso
  .datetime({ offset: true, error: 'must be an ISO 8601 time with a time zone, or null' })
  .transform((text) => Date.parse(text))
  .nullable()
  .describe('When the key expires, ISO 8601 with a time zone; null for never.');

export const newAccount = z.strictObject({ name, plan, balance: balance.optional() });
export const accountChange = z.strictObject({
  name: name.optional(),
  plan: plan.optional(),
  balance: balance.optional(),
  addBalance: z
    .int()
    .optional()
    .describe('Tokens to add to the balance; negative to subtract. The balance stops at zero.'),
});
export const newKey = z.strictObject({
  name,
  accountId: id('The id of its account. Default: `default`.').optional(),
  expiresAt: expiry.optional(),
  key: z
    .string()
    .regex(/^[\x21-\x7e]{32,512}$/, 'must be 32 to 512 visible ASCII characters without spaces')
    .optional()
    .describe('A key of your own, 32 to 512 visible ASCII characters. Default: a new random key.'),
});
export const keyChange = z.strictObject({ name: name.optional(), expiresAt: expiry.optional() });

const limit = z.coerce
  .number<string>()
  .int()
  .min(1)
  .max(1000)
  .default(100)
  .describe('Maximum number of items, 1 to 1000. Default: 100.');
const after = id('The id after which the list continues: `next` of the previous response.').optional();
export const hostList = z.strictObject({
  limit: z.coerce
    .number<string>()
    .int()
    .min(1)
    .max(MAX_HOSTS)
    .default(MAX_HOSTS)
    .describe(`Maximum number of hosts, 1 to ${MAX_HOSTS}. Default: ${MAX_HOSTS}.`),
});
export const accountList = z.strictObject({ limit, after });
export const keyList = z.strictObject({ accountId: id('List only keys of this account.').optional(), limit, after });

const groups = z
  .string()
  .transform((text) => text.split(',').map((word) => word.trim()))
  .refine((words): words is UsageGroup[] => words.every((word) => USAGE_GROUPS.includes(word as UsageGroup)), {
    error: `must be a comma-separated list of ${USAGE_GROUPS.join(', ')}`,
  });
const day = z.iso.date('must be a date: YYYY-MM-DD');
export const usageQuery = z.strictObject({
  by: groups
    .optional()
    .describe(`Groups of the totals, separated by commas: ${USAGE_GROUPS.join(', ')}. Default: one total.`),
  from: day.optional().describe('The first day, UTC.'),
  to: day.optional().describe('The last day, UTC.'),
  accountId: id('Count only usage of this account.').optional(),
  keyId: id('Count only usage of this key.').optional(),
});

export const accountShape = z.strictObject({
  id: z.string(),
  name,
  plan,
  balance,
  createdAt: time('When it was created.'),
});
export const keyShape = z.strictObject({
  id: z.string(),
  accountId: z.string(),
  name,
  shown: z.string().describe('The first characters of the key.'),
  createdAt: time('When it was created.'),
  expiresAt: time('When it expires.').nullable(),
  revokedAt: time('When it was revoked.').nullable(),
  lastUsedAt: time('When it was last used, rounded down to the minute.').nullable(),
});
export const createdKeyShape = keyShape.extend({ key: z.string().describe('The key. It cannot be shown again.') });
export const usageShape = z.strictObject({
  ...Object.fromEntries(USAGE_GROUPS.map((group) => [group, z.string().optional()])),
  requests: z.int(),
  failed: z.int().describe('Number of requests that returned a status of 400 or above.'),
  tokens: z.int(),
  durationMs: z.int(),
});
export const hostShape = z.strictObject({
  host: z.string().describe('Host of the URLs, with the port if it is not the default.'),
  fetches: z.int().describe('Number of fetches, each by one engine.'),
  failed: z.int().describe('Number of fetches that captured nothing.'),
  totalMs: z.int().describe('Sum of the times of all fetches.'),
  p50Ms: z.int().describe('Half of the latest 64 fetches took at most this time.'),
  p95Ms: z.int().describe('95 % of the latest 64 fetches took at most this time.'),
  lastAt: z.iso.datetime().describe('Time of the last fetch.'),
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

/** Parses a value from the caller. Throws a ParamValidationError that lists every invalid field. */
export function validate<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const faults = result.error.issues.flatMap((issue) =>
    issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: key, message: 'unknown field' }))
      : [{ path: issue.path.join('.') || 'body', message: issue.message }],
  );
  throw problem('ParamValidationError', {
    path: faults[0]!.path,
    message: faults.map(({ path, message }) => `${path}: ${message}`).join('; '),
    faults,
  });
}
