/** When a server that had no capacity wants to be asked again (RFC 9110, section 10.2.3): in seconds, or by a date. */

const MOST_S = 3_600;

/** Seconds from now, 1 to 3,600; `otherwise` when the header is missing or says nothing. */
export function retryAfterSeconds(header: string | undefined, otherwise: number): number {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), MOST_S) : otherwise;
}
