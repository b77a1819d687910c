/**
 * Whether a Cache-Control header forbids that what was answered is kept for others (RFC 9111, section 3). `private` is
 * taken so even where it names fields, as section 5.2.2.7 allows; a word inside of a quoted text forbids too, which
 * costs a copy and no secret.
 */
export const forbidsCopies = (cacheControl: string | undefined): boolean =>
  cacheControl !== undefined && /(?:^|[\s,])(?:no-store|private)(?=[\s,;=]|$)/i.test(cacheControl);
