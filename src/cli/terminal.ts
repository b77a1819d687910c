/** A terminal as output: pages and servers elsewhere write to it, and must not command it. */
import { Writable } from 'node:stream';

// C0 but for tab, line feed and carriage return, DEL and C1 (ECMA-48), and what turns the direction of text.
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Text that a terminal only shows: what starts a command to it becomes U+FFFD. */
export const sanitizeForTerminal = (text: string): string => text.replace(CONTROL_CHARACTERS, '\ufffd');

/** The stream itself, unless it is a terminal: that gets text which it only shows. Bytes are written as they are. */
export function guardTerminal(
  stream: Writable & { readonly isTTY?: boolean },
): Writable & { readonly isTTY?: boolean } {
  if (!stream.isTTY) return stream;
  const guard = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      stream.write(typeof chunk === 'string' ? sanitizeForTerminal(chunk) : chunk, done);
    },
  });
  return Object.assign(guard, { isTTY: true });
}
