/**
 * Reads and writes cookies and local storage of a browser context (the `storageState` and `exportStorageState`
 * options).
 */
import type { BrowserContext } from 'playwright-core';
import * as z from 'zod';
import { within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { StorageState } from '../../snapshot.ts';

/** Maximum size of a storage state: the total size of its names and values. */
const MAX_CHARACTERS = 1024 * 1024;
const MAX_COOKIES = 3_000;
const MAX_ENTRIES = 5_000;
/** The number of origins is limited because a page must be opened for each of them. */
const MAX_ORIGINS = 20;

const text = z.string().max(MAX_CHARACTERS);
const cookieShape = z.object({
  name: z
    .string()
    .max(4_096)
    .regex(/^[^\s=;,\x00-\x1f\x7f]*$/, 'is not the name of a cookie'),
  value: z
    .string()
    .max(4_096)
    .regex(/^[^;\x00-\x08\x0a-\x1f\x7f]*$/, 'is not the value of a cookie'),
  domain: z
    .string()
    .max(255)
    .regex(/^\.?[^\s/:;,@?#\\.][^\s/:;,@?#\\]*$|^\[?[0-9a-f:.]+\]?$/i, 'is not a host'),
  path: z
    .string()
    .max(4_096)
    .regex(/^\/[^;\x00-\x1f\x7f]*$/, 'must begin with a slash')
    .default('/'),
  expires: z.number().min(-1).max(1e11).default(-1),
  httpOnly: z.boolean().default(false),
  secure: z.boolean().default(false),
  sameSite: z.enum(['Strict', 'Lax', 'None']).default('Lax'),
});
const originShape = z.object({
  origin: z.string().transform((given, context) => {
    const url = isUrl(given) ? new URL(given) : undefined;
    if (url && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
    context.addIssue({ code: 'custom', message: 'must be an origin such as https://a.example', input: given });
    return z.NEVER;
  }),
  localStorage: z
    .array(z.object({ name: text, value: text }))
    .max(MAX_ENTRIES)
    .default([]),
});
const stateShape = z.object({
  cookies: z.array(cookieShape).max(MAX_COOKIES).default([]),
  origins: z.array(originShape).max(MAX_ORIGINS).default([]),
});

/**
 * Validates a caller's state, fills in defaults and drops unknown fields. Throws ParamValidationError with `path` set
 * to `storageState`; the message names the invalid field.
 */
export function parseStorageState(value: unknown): StorageState {
  if (sizeOf(value) > MAX_CHARACTERS) throw invalid('The state is larger than 1 MB');
  const result = stateShape.safeParse(value);
  if (!result.success) {
    const { path, message } = result.error.issues[0]!;
    throw invalid(`${fieldOf(path)}: ${message}`);
  }
  for (const [at, { name, secure, sameSite }] of result.data.cookies.entries()) {
    if (sameSite === 'None' && !secure) throw invalid(`cookies[${at}]: SameSite None needs secure`);
    if (/^__(?:secure|host)-/i.test(name) && !secure) throw invalid(`cookies[${at}]: its name needs secure`);
  }
  return result.data;
}

const invalid = (message: string) => problem('ParamValidationError', { path: 'storageState', message });

const fieldOf = (path: readonly PropertyKey[]) =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at ? '.' : ''}${String(step)}`)).join('') ||
  'The state';

/** Size of a value as JSON, in characters; infinite if it cannot be written as JSON. */
function sizeOf(value: unknown): number {
  try {
    return JSON.stringify(value)?.length ?? 0;
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

export interface StorageStateResult {
  readonly state: StorageState;
  /** False if the state exceeded the limits and was truncated. */
  readonly complete: boolean;
}

/**
 * Returns the cookies of a context and the local storage of the origins that its pages visited, within the same limits
 * as for an input state. Throws DeadlineExceededError.
 */
export async function readStorageState(context: BrowserContext, limitMs: number): Promise<StorageStateResult> {
  const { cookies, origins } = await within(limitMs, context.storageState());
  const kept: StorageState['origins'][number][] = [];
  let left = MAX_CHARACTERS - JSON.stringify(cookies).length;
  for (const { origin, localStorage } of origins) {
    const entry = { origin, localStorage: localStorage.map(({ name, value }) => ({ name, value })) };
    left -= JSON.stringify(entry).length + 1;
    if (left < 0 || kept.length >= MAX_ORIGINS) break;
    kept.push(entry);
  }
  const state = {
    cookies: cookies.map(({ name, value, domain, path, expires, httpOnly, secure, sameSite }) => ({
      name,
      value,
      domain,
      path,
      expires,
      httpOnly,
      secure,
      sameSite,
    })),
    origins: kept,
  };
  return { state, complete: kept.length === origins.length };
}
