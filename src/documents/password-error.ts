/** The errors of files that need a password. */
import { DocumentError } from './document.ts';

/** `what` is the kind of file: `Office file`. The messages never contain the password. */
export const passwordError = (what: string, password: string | undefined): DocumentError =>
  password === undefined
    ? new DocumentError('encrypted', `The ${what} is protected by a password: give it in \`filePassword\``)
    : new DocumentError('wrong password', `The password in \`filePassword\` does not open the ${what}`);
