/** What accounts and keys may be called: one line that fits into a table. */
const NAME = /^(?=\S)[^\p{Cc}]{1,200}$/u;

export const isName = (text: string): boolean => NAME.test(text);
