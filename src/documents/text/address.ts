/** Addresses in files: absolute where they can be made so, and none that runs anything. */

const MAX_PICTURE = 256 * 1024;

/** Undefined when it may not be a link (or, for pictures, a picture). One that is relative to nothing known stays so. */
export function safeAddress(raw: string, base: string | undefined, isPicture = false): string | undefined {
  const trimmed = raw.trim();
  if (trimmed === '') return undefined;
  if (isPicture && /^data:image\/(?:png|jpeg|gif|webp);base64,/i.test(trimmed)) {
    return trimmed.length * 0.75 <= MAX_PICTURE ? trimmed : undefined;
  }
  if (URL.canParse(trimmed, base)) {
    const url = new URL(trimmed, base);
    return (isPicture ? /^https?:$/ : /^(?:https?|mailto):$/).test(url.protocol) ? url.href : undefined;
  }
  // A browser passes over white space and control characters in a scheme.
  return /^[a-z][a-z0-9+.-]*:/i.test(trimmed.replace(/[\0-\x20]/g, '')) ? undefined : trimmed;
}

/** The first that is an address of the web: what relative ones may be resolved against. */
export const webBase = (...candidates: (string | undefined)[]): string | undefined =>
  candidates.find((candidate) => candidate && /^https?:\/\//i.test(candidate) && URL.canParse(candidate));
