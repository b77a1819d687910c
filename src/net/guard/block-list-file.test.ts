import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import { openBlockListFile } from './block-list-file.ts';

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-block-list-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

async function open(name: string, text: string) {
  const file = path.join(folder, name);
  await writeFile(file, text);
  const lines: { facts: Record<string, unknown>; message: string }[] = [];
  const note = (facts: object, message: string) => void lines.push({ facts: { ...facts }, message });
  const list = await openBlockListFile(file, { info: note, warn: note });
  onTestFinished(() => list.close());
  const blocks = (host: string) => list.find(new URL(`https://${host}/`)) !== undefined;
  return { file, list, lines, blocks, said: () => lines.map(({ message }) => message).join('\n') };
}

const wait = { timeout: 20_000 };

it('is read again when the file is written, and when another file replaces it', async () => {
  const { file, blocks } = await open('changes.txt', 'one.example\n');
  expect([blocks('one.example'), blocks('two.example')]).toEqual([true, false]);
  await writeFile(file, 'two.example\n# more than before\n');
  await expect.poll(() => [blocks('one.example'), blocks('two.example')], wait).toEqual([false, true]);
  await writeFile(`${file}.new`, 'three.example\n');
  await rename(`${file}.new`, file);
  await expect.poll(() => [blocks('two.example'), blocks('three.example')], wait).toEqual([false, true]);
});

it('keeps the old list while the file cannot be read, and says so', async () => {
  const { file, blocks, said } = await open('broken.txt', 'one.example\n');
  await writeFile(file, Buffer.from([0xff, 0xfe, 0x00, 0x41]));
  await expect.poll(said, wait).toContain('cannot be read; the old list stays in use');
  expect(blocks('one.example')).toBe(true);
  await rm(file);
  await writeFile(file, 'two.example\n');
  await expect.poll(() => blocks('two.example'), wait).toBe(true);
});

it('logs the numbers of lines that are not valid entries, and the entry of each refusal', async () => {
  const { lines, blocks, said } = await open('faults.txt', '# hosts\ngood.example\nnot a host\n');
  expect(said()).toContain('line 3 of the list of blocked URLs is ignored: it contains white space');
  blocks('www.good.example');
  expect(lines.at(-1)).toEqual({
    facts: { line: 2, entry: 'good.example' },
    message: 'refused by the list of blocked URLs',
  });
});

it('must be readable at the start', async () => {
  const log = { info: () => {}, warn: () => {} };
  await expect(openBlockListFile(path.join(folder, 'none.txt'), log)).rejects.toThrow();
  await expect(openBlockListFile(folder, log)).rejects.toThrow();
});
