/**
 * Whether a Cache-Control header forbids shared caching (RFC 9111, section 3). `private` with field names forbids it
 * too, as section 5.2.2.7 allows. So does a match inside quotes: that costs a cached copy, but leaks nothing.
 */
export const forbidsCopies = (cacheControl: string | undefined): boolean =>
  cacheControl !== undefined && /(?:^|[\s,])(?:no-store|private)(?=[\s,;=]|$)/i.test(cacheControl);
