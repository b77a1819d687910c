/** Values of the evidence that the main thread compares; apart from evidence.ts, which loads the extraction. */

/** Sign for a page with no content except its frames. */
export const FRAMESET_SIGN = 'its frames are its content';
/** HTML with fewer words of main content than this has almost no content. */
export const MIN_WORDS = 30;
