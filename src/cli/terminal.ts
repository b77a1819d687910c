/** Protects the terminal: text from pages and servers must not send control sequences to it. */
import { Writable } from 'node:stream';

// C0 except tab, line feed and carriage return; DEL and C1 (ECMA-48); and characters that change text direction.
const CONTROL_CHARACTERS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces control characters with U+FFFD, so that a terminal only shows the text. */
export const sanitizeForTerminal = (text: string): string => text.replace(CONTROL_CHARACTERS, '\ufffd');

/** Wraps a terminal so that text written to it, also as bytes, is sanitized. Other streams are returned as they are. */
export function guardTerminal(
  stream: Writable & { readonly isTTY?: boolean },
): Writable & { readonly isTTY?: boolean } {
  if (!stream.isTTY) return stream;
  // A character may be split between two writes.
  const decoder = new TextDecoder();
  const guard = new Writable({
    decodeStrings: false,
    write(chunk: string | Uint8Array, _encoding, done) {
      stream.write(
        sanitizeForTerminal(typeof chunk === 'string' ? chunk : decoder.decode(chunk, { stream: true })),
        done,
      );
    },
  });
  return Object.assign(guard, { isTTY: true });
}
