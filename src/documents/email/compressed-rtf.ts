/** Decompresses the RTF of a message (MS-OXRTFCP): LZFu, with a dictionary that is filled in advance. */
import { DocumentError } from '../document.ts';

const COMPRESSED = 0x75465a4c;
const STORED = 0x414c454d;
const HEADER_BYTES = 16;
const DICTIONARY_BYTES = 4_096;
/** A reference yields at most 17 bytes for two, and one bit. */
const MAX_RATIO = 9;

/** MS-OXRTFCP, 2.1.2.1. */
const INITIAL =
  '{\\rtf1\\ansi\\mac\\deff0\\deftab720{\\fonttbl;}{\\f0\\fnil \\froman \\fswiss \\fmodern \\fscript \\fdecor MS Sans SerifSymbolArialTimes New RomanCourier{\\colortbl\\red0\\green0\\blue0\r\n\\par \\pard\\plain\\f0\\fs20\\b\\i\\u\\tab\\tx';

/** Throws DocumentError. */
export function decompressRtf(bytes: Uint8Array): Uint8Array {
  if (bytes.length < HEADER_BYTES) throw damaged();
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const rawBytes = view.getUint32(4, true);
  const method = view.getUint32(8, true);
  const content = bytes.subarray(HEADER_BYTES);
  if (method === STORED) return content.subarray(0, rawBytes);
  if (method !== COMPRESSED) throw damaged();
  return inflate(content, Math.min(rawBytes, content.length * MAX_RATIO));
}

function inflate(content: Uint8Array, maxBytes: number): Uint8Array {
  const dictionary = Buffer.alloc(DICTIONARY_BYTES, 0x20);
  let write = dictionary.write(INITIAL, 'latin1');
  const out = Buffer.alloc(maxBytes);
  let length = 0;
  const put = (byte: number) => {
    dictionary[write] = byte;
    write = (write + 1) % DICTIONARY_BYTES;
    out[length++] = byte;
  };
  for (let at = 0; at < content.length && length < maxBytes; ) {
    const control = content[at++]!;
    for (let bit = 0; bit < 8 && at < content.length && length < maxBytes; bit++) {
      if ((control & (1 << bit)) === 0) {
        put(content[at++]!);
        continue;
      }
      const reference = content[at]! * 256 + (content[at + 1] ?? 0);
      at += 2;
      const from = reference >> 4;
      // A reference to the next position marks the end.
      if (from === write) return out.subarray(0, length);
      const count = (reference & 0x0f) + 2;
      for (let n = 0; n < count && length < maxBytes; n++) put(dictionary[(from + n) % DICTIONARY_BYTES]!);
    }
  }
  return out.subarray(0, length);
}

const damaged = () => new DocumentError('damaged', 'The formatted text of the message is damaged');
