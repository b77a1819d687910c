import { once } from 'node:events';
import net from 'node:net';
import { describe, expect, it } from 'vitest';
import { createFrameReader, writeFrame } from './frames.ts';

type Frame = [kind: number, id: number, payload: string];

async function written(write: (socket: net.Socket) => void): Promise<Buffer> {
  const server = net.createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as net.AddressInfo;
  const [socket, [peer]] = [net.connect(port, '127.0.0.1'), (await once(server, 'connection')) as [net.Socket]];
  write(socket);
  // The frames of this tick have not been written yet.
  process.nextTick(() => socket.end());
  const bytes = Buffer.concat(await peer.toArray());
  server.close();
  return bytes;
}

function read(bytes: Buffer, step: number): Frame[] {
  const frames: Frame[] = [];
  const take = createFrameReader((kind, id, payload) => void frames.push([kind, id, payload.toString('latin1')]));
  for (let at = 0; at < bytes.length; at += step) take(bytes.subarray(at, at + step));
  return frames;
}

describe('frames', () => {
  const large = 'x'.repeat(100_000);
  const sent: Frame[] = [
    [2, 1, 'hello there'],
    [13, 4_294_967_295, ''],
    [2, 7, large],
    [4, 0, 'end'],
  ];

  it.each([1, 3, 9, 10, 4096, 1_000_000])(
    'are read as they were written, however they are cut: by %i',
    async (step) => {
      const bytes = await written((socket) => {
        for (const [kind, id, text] of sent) {
          const middle = Math.floor(text.length / 2);
          writeFrame(socket, kind, id, Buffer.from(text.slice(0, middle)), Buffer.from(text.slice(middle)));
        }
      });
      expect(read(bytes, step)).toEqual(sent);
    },
  );

  it('are refused when they announce too many bytes', () => {
    const head = Buffer.alloc(9);
    head.writeUInt32LE(2 ** 28 + 1, 0);
    expect(() => read(head, 9)).toThrow(RangeError);
  });
});
