/** Warnings about a target that was not read completely, one line each. */
import type { Truncation } from '#net/fetch/body-limits.ts';

export const TRUNCATION_WARNINGS: Readonly<Record<Truncation, string>> = {
  time: 'The target did not send all of its content in time; this is the part that arrived',
  slow: 'The target sent its content too slowly; this is the part that arrived',
  broken: 'The target broke off before the end of its content; this is the part that arrived',
};

/** Warning for a page that kept redirecting. */
export const REDIRECT_LOOP_WARNING = 'The page redirects again and again; this is the last page that was read';

/**
 * Warning about a partial response that was not requested (RFC 9110, section 15.3.7). `undefined` if the status or the
 * Content-Range header shows that the response is complete.
 */
export function partialResponseWarning(status: number, contentRange: string | undefined): string | undefined {
  if (status !== 206) return undefined;
  const range = /^\s*bytes\s+0-(\d+)\/(\d+)\s*$/i.exec(contentRange ?? '');
  if (range && Number(range[1]) + 1 >= Number(range[2])) return undefined;
  return 'The target sent only a part of its content (status 206); this is that part';
}
