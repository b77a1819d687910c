/**
 * Whether a Cache-Control header forbids shared caching (RFC 9111, section 3). `private` with field names also forbids
 * it, as section 5.2.2.7 allows. So does a match inside quotes, which can only cause a cache miss, never a leak.
 */
export const forbidsCopies = (cacheControl: string | undefined): boolean =>
  cacheControl !== undefined && /(?:^|[\s,])(?:no-store|private)(?=[\s,;=]|$)/i.test(cacheControl);
