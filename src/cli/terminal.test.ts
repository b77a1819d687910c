import { Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { guardTerminal } from './terminal.ts';

const collected = (isTTY: boolean) => {
  const pieces: (string | Uint8Array)[] = [];
  const stream = new Writable({
    decodeStrings: false,
    write(chunk, _, done) {
      pieces.push(chunk);
      done();
    },
  });
  return { pieces, output: guardTerminal(Object.assign(stream, { isTTY })) };
};

const COMMAND = '\u001b]0;owned\u0007 \u009b31m and\u001b';

it('removes control sequences, also across several writes', async () => {
  const { pieces, output } = collected(true);
  output.write(`${COMMAND}\n`);
  output.write('[2J\ttea \u202ecod\u202c\r\n');
  await new Promise<void>((resolve) => output.end(resolve));
  expect(pieces.join('')).toBe('\ufffd]0;owned\ufffd \ufffd31m and\ufffd\n[2J\ttea \ufffdcod\ufffd\r\n');
});

it('removes control sequences from bytes', async () => {
  const { pieces, output } = collected(true);
  const bytes = Buffer.from(`${COMMAND} é`);
  output.write(bytes.subarray(0, -1));
  output.write(bytes.subarray(-1));
  await new Promise<void>((resolve) => output.end(resolve));
  expect(pieces.join('')).toBe('\ufffd]0;owned\ufffd \ufffd31m and\ufffd é');
});

it('does not change output to files and other programs', async () => {
  const { pieces, output } = collected(false);
  output.write(COMMAND);
  await new Promise<void>((resolve) => output.end(resolve));
  expect(pieces).toEqual([COMMAND]);
});
