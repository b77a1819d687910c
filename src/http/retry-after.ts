/** Parses the Retry-After header (RFC 9110, section 10.2.3), which contains seconds or a date. */

const MAX_S = 3_600;

/** Returns seconds from now, 1 to 3,600. Returns `otherwise` if the header is missing or invalid. */
export function retryAfterSeconds(header: string | undefined, otherwise: number): number {
  const text = header?.trim() ?? '';
  const seconds = /^\d+$/.test(text) ? Number(text) : (Date.parse(text) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.min(Math.max(Math.ceil(seconds), 1), MAX_S) : otherwise;
}
