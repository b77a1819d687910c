import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it } from 'vitest';
import { wellFormed } from './well-formed.ts';
import work from './worker.ts';

it('replaces half surrogate pairs in texts and keys, and keeps pairs', () => {
  expect(wellFormed({ '\ud83d': ['a\udc00b', { c: '😀' }], n: 1, none: undefined })).toEqual({
    '\ufffd': ['a\ufffdb', { c: '😀' }],
    n: 1,
    none: undefined,
  });
});

it('applies to the text and metadata of every document', async () => {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-well-formed-'));
  try {
    const file = path.join(folder, 'file');
    const bytes = Buffer.from(
      '{\\rtf1\\ansi{\\info{\\title A\\u-10179?}}half \\u-10179? whole \\u-10179?\\u-8704?\\par}',
    );
    writeFileSync(file, bytes);
    const task = {
      do: 'parse',
      file: { path: file, size: bytes.length, mediaType: 'application/rtf' },
      options: { timeMs: 10_000 },
    } as const;
    const outcome = await work(task);
    expect(outcome).toMatchObject({
      kind: 'document',
      document: { title: 'A\ufffd', pages: [{ html: '<p>half \ufffd whole 😀</p>' }] },
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
