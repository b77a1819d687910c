/** What accounts and keys may be called: one line that fits into a table, of 1 to 200 characters. */
export const NAME = /^(?=\S)[^\p{Cc}]{1,200}$/u;
