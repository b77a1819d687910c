/** Checks for a read: which reads are refused before they start, and which failures are recorded. */
import { Problem } from '#errors.ts';
import { checkCustomHeaders } from '#net/fetch/custom-headers.ts';
import { parseProxyUrl } from '#net/proxy/proxy-table.ts';
import { traceStep } from '#telemetry/trace.ts';
import { parseStorageState } from './engines/browser/storage-state.ts';
import type { FailureLimit } from './failure-limit.ts';
import { requireModels } from './formats/write-by-model.ts';
import type { Options } from './options/resolve.ts';
import type { ReaderParts, ReadRequest } from './read.ts';

type CheckParts = Pick<ReaderParts, 'guard' | 'robots' | 'writers' | 'abuse'>;

/** Throws problems that are certain before the read starts: invalid options, missing models, refused targets. */
export async function assertAllowed(
  { target, options, signal, keyed, trace }: ReadRequest,
  { guard, robots, writers, abuse }: CheckParts,
  failures: FailureLimit,
): Promise<void> {
  if (!target.given && !target.upload) {
    // Checked before the cache lookup, so that no copy is served for a refused URL.
    guard.checkUrl(new URL(target.url));
    await failures.check(target.url);
    await abuse?.check(target.url, keyed);
  }
  requireModels(options, writers);
  const { robotsTxt, proxyUrl, skipCertVerification, zeroDataRetention, customHeader, storageState, jsonSchema } =
    options;
  checkCustomHeaders(customHeader);
  const proxy = proxyUrl === undefined ? undefined : parseProxyUrl(proxyUrl);
  if (storageState !== undefined) parseStorageState(storageState);
  if (jsonSchema) await writers.renderer.checkJson(jsonSchema, undefined, signal);
  if (!robotsTxt || target.given || target.upload) return;
  const asked = { signal, proxy, acceptInvalidCertificates: skipCertVerification, zeroDataRetention };
  await traceStep('robots', trace, () => robots.check(target.url, robotsTxt, asked));
}

/**
 * Whether the target itself failed. Problems that name an option do not count, and neither do reads with the caller's
 * own cookies, scripts or similar input, so that no caller can block a URL for others.
 */
export function isFailedTarget(error: unknown, { target, options }: ReadRequest): error is Problem {
  if (!(error instanceof Problem) || error.name !== 'AssertionFailureError' || target.given || target.upload)
    return false;
  const { path } = error.facts;
  return (path === undefined || path === 'url') && CALLER_INPUTS.every((name) => !isSet(options[name]));
}

const CALLER_INPUTS = [
  'setCookies',
  'customHeader',
  'storageState',
  'preloadUrl',
  'proxyUrl',
  'injectPageScript',
  'injectFrameScript',
  'viewport',
  'timeoutMs',
  'filePassword',
] as const satisfies (keyof Options)[];

const isSet = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value !== undefined);
