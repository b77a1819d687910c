/** URLs in files: they are made absolute if a base is known, and schemes that run code are refused. */
import { isUrl } from '#is-url.ts';

/** Maximum size of an image in a data URL, in bytes. */
const MAX_PICTURE = 256 * 1024;

/**
 * Returns `undefined` for a URL that is not allowed in a link (or image). A relative URL without a base is returned
 * unchanged.
 */
export function safeUrl(raw: string, base: string | undefined, isPicture = false): string | undefined {
  const trimmed = raw.trim();
  if (trimmed === '') return undefined;
  if (isPicture && /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(trimmed)) {
    return trimmed.length * 0.75 <= MAX_PICTURE ? trimmed : undefined;
  }
  if (isUrl(trimmed, base)) {
    const url = new URL(trimmed, base);
    return (isPicture ? /^https?:$/ : /^(?:https?|mailto):$/).test(url.protocol) ? url.href : undefined;
  }
  // Browsers ignore white space and control characters in a scheme.
  return /^[a-z][a-z0-9+.-]*:/i.test(trimmed.replace(/[\0-\x20]/g, '')) ? undefined : trimmed;
}

/** The first HTTP URL among the candidates, as base for relative URLs. */
export const firstHttpUrl = (...candidates: (string | undefined)[]): string | undefined =>
  candidates.find((candidate) => candidate && /^https?:\/\//i.test(candidate) && isUrl(candidate));
