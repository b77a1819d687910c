/**
 * Parses the chunked transfer coding (RFC 9112, section 7.1). Like browsers, it accepts lines without a carriage
 * return.
 */

export interface ChunkParser {
  /** Passes the chunk data to `onData`. Returns true after the last chunk. Throws if the bytes are not chunked. */
  push(bytes: Buffer, onData: (data: Buffer) => void): boolean;
  /** Returns the bytes after the last chunk. */
  rest(): Buffer;
}

/** Maximum length of a line, and maximum total length of the trailers. */
const MAX_LINE_BYTES = 16 * 1024;
const LF = 0x0a;

export function createChunkParser(): ChunkParser {
  let step: 'size' | 'data' | 'end' | 'trailers' | 'done' = 'size';
  let left = 0;
  let line = '';
  let trailers = 0;
  let rest: Buffer = Buffer.alloc(0);

  const endLine = (text: string) => {
    if (step === 'size') {
      left = sizeOf(text);
      step = left ? 'data' : 'trailers';
    } else if (step === 'end') {
      if (text !== '') throw notChunks();
      step = 'size';
    } else if (text === '') step = 'done';
  };

  return {
    push(bytes, onData) {
      for (let at = 0; at < bytes.length; ) {
        if (step === 'data') {
          const data = bytes.subarray(at, at + left);
          onData(data);
          at += data.length;
          left -= data.length;
          if (!left) step = 'end';
          continue;
        }
        const end = bytes.indexOf(LF, at);
        const part = bytes.toString('latin1', at, end < 0 ? undefined : end);
        if (step === 'trailers') trailers += part.length + 1;
        if (line.length + part.length > MAX_LINE_BYTES || trailers > MAX_LINE_BYTES) throw notChunks();
        line += part;
        if (end < 0) return false;
        at = end + 1;
        endLine(line.replace(/\r$/, ''));
        line = '';
        if (step === 'done') {
          rest = bytes.subarray(at);
          return true;
        }
      }
      return false;
    },
    rest: () => rest,
  };
}

/** Numbers of up to 13 hexadecimal digits can be represented exactly in JavaScript. */
function sizeOf(line: string): number {
  const digits = /^0*([0-9a-f]{0,13})[ \t]*(?:;.*)?$/i.exec(line);
  if (!digits || !/^[0-9a-f]/i.test(line)) throw notChunks();
  return Number.parseInt(digits[1] || '0', 16);
}

const notChunks = () => Object.assign(new Error('not chunked'), { code: 'HPE_INVALID_CHUNK_SIZE' });
