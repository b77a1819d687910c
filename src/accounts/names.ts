/**
 * What accounts and keys may be called: one line that fits into a table, of 1 to 200 characters, none of which breaks lines
 * or turns the direction of what stands beside it.
 */
export const NAME = /^(?=\S)[^\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}]{1,200}$/u;
