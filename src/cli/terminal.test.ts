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

it('passes bytes unchanged', async () => {
  const { pieces, output } = collected(true);
  const bytes = new Uint8Array([0x89, 0x50, 0x1b]);
  output.write(bytes);
  await new Promise<void>((resolve) => output.end(resolve));
  expect(Buffer.from(pieces[0] as Uint8Array)).toEqual(Buffer.from(bytes));
});

it('does not change output to files and other programs', async () => {
  const { pieces, output } = collected(false);
  output.write(COMMAND);
  await new Promise<void>((resolve) => output.end(resolve));
  expect(pieces).toEqual([COMMAND]);
});
