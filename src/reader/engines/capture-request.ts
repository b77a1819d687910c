/** A capture in progress: the read that requested it, and the visit that each engine makes for it. */
import type { OptionName } from '../options/options.ts';
import type { ReadRequest } from '../read.ts';
import type { Visit } from './engine.ts';

/** Default timeouts (docs/reference/wire/reader.md, Timing). */
export const BROWSER_MS = 15_000;
export const DIRECT_MS = 30_000;

/** Reason for using the engine: the caller chose it. */
export const ASKED_FOR = 'asked for';

/** A request with its start time and its proxy. */
export interface CaptureRequest extends ReadRequest {
  readonly startedAt: number;
  readonly folder: Visit['folder'];
  readonly required: readonly OptionName[];
  readonly proxy?: URL | undefined;
}

/** The caller's timeout covers the whole read; without one, each engine has its own timeout. */
export function visitOf(
  { target, options, signal, startedAt, keyed, folder, proxy, trace, checkRedirect }: CaptureRequest,
  standardMs: number,
): Visit {
  const { timeoutMs } = options;
  const deadline = timeoutMs === undefined ? performance.now() + standardMs : startedAt + timeoutMs;
  return { url: target.url, options, signal, deadline, keyed, folder, proxy, trace, checkRedirect };
}
