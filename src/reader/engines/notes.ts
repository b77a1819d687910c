/** What is told of a target that was not read as a whole, by whatever engine. One line each. */
import type { Truncation } from '#net/fetch/body-limits.ts';

export const CUT_NOTES: Readonly<Record<Truncation, string>> = {
  time: 'The target did not send all of its content in time; this is what had arrived',
  slow: 'The target sent its content too slowly; this is what had arrived',
  broken: 'The target broke off before the end of its content; this is what had arrived',
};

/** Of a page that was left where it stood. */
export const SENT_ON_NOTE = 'The page sends its reader on again and again; this is where it was left';

/**
 * Of an answer that is only a part, though nobody asked for one (RFC 9110, section 15.3.7). Undefined for one that is
 * whole, by its status or by the range that it names.
 */
export function partNote(status: number, contentRange: string | undefined): string | undefined {
  if (status !== 206) return undefined;
  const range = /^\s*bytes\s+0-(\d+)\/(\d+)\s*$/i.exec(contentRange ?? '');
  if (range && Number(range[1]) + 1 >= Number(range[2])) return undefined;
  return 'The target sent only a part of its content (status 206); this is that part';
}
