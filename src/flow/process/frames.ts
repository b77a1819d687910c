/**
 * Frames between the server and an executor's process: length, kind and id in 9 bytes, then the payload. A call and its
 * response share the id.
 */
import type { Socket } from 'node:net';

export const FRAME = {
  /** Frames sent to the process. */
  init: 1,
  call: 2,
  cancel: 3,
  ping: 4,
  close: 5,
  /** Frames sent by the process. */
  ready: 11,
  notStarted: 12,
  answer: 13,
  closedExecutor: 14,
  pong: 15,
  closed: 16,
  uncaught: 17,
} as const;

const HEAD_BYTES = 9;
/** Maximum size of a payload. A larger payload is an error of the sender. */
const MAX_PAYLOAD_BYTES = 2 ** 28;
/** Maximum size of a frame that is copied into one buffer, which is cheaper than several writes. */
const MAX_COPIED_BYTES = 16_384;

/** Writes a frame. Frames written in the same tick leave in one system call. */
export function writeFrame(socket: Socket, kind: number, id: number, ...parts: readonly Uint8Array[]): void {
  const length = parts.reduce((sum, part) => sum + part.length, 0);
  if (length > MAX_PAYLOAD_BYTES) throw new RangeError(`a message of ${length} bytes exceeds ${MAX_PAYLOAD_BYTES}`);
  if (socket.writableCorked === 0) {
    socket.cork();
    process.nextTick(() => socket.uncork());
  }
  const isCopied = length <= MAX_COPIED_BYTES;
  const head = Buffer.allocUnsafe(HEAD_BYTES + (isCopied ? length : 0));
  head.writeUInt32LE(length, 0);
  head.writeUInt8(kind, 4);
  head.writeUInt32LE(id, 5);
  if (isCopied) {
    let at = HEAD_BYTES;
    for (const part of parts) {
      head.set(part, at);
      at += part.length;
    }
  }
  socket.write(head);
  if (!isCopied) for (const part of parts) socket.write(part);
}

export type OnFrame = (kind: number, id: number, payload: Buffer) => void;

/** Splits a byte stream into frames. Throws a RangeError for a payload that is too large. */
export function createFrameReader(onFrame: OnFrame): (chunk: Buffer) => void {
  let parts: Buffer[] = [];
  let have = 0;
  let need = HEAD_BYTES;
  return (chunk) => {
    parts.push(chunk);
    have += chunk.length;
    if (have < need) return;
    const bytes = parts.length === 1 ? chunk : Buffer.concat(parts, have);
    let at = 0;
    need = HEAD_BYTES;
    while (bytes.length - at >= HEAD_BYTES) {
      const length = bytes.readUInt32LE(at);
      if (length > MAX_PAYLOAD_BYTES) throw new RangeError(`a frame announces ${length} bytes`);
      const end = at + HEAD_BYTES + length;
      if (end > bytes.length) {
        need = end - at;
        break;
      }
      const [kind, id] = [bytes.readUInt8(at + 4), bytes.readUInt32LE(at + 5)];
      const payload = bytes.subarray(at + HEAD_BYTES, end);
      at = end;
      onFrame(kind, id, payload);
    }
    parts = at < bytes.length ? [bytes.subarray(at)] : [];
    have = bytes.length - at;
  };
}
