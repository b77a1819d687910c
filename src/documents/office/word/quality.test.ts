/** Measures how much of a known document is recovered from the files that other programs create from it. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../../parse.suite.ts';
import { kind as rtf } from '../rtf/rtf.ts';
import { kind as docx } from './docx.ts';
import { kind as odt } from './odt.ts';
import { blocksOf, orderScore, SAMPLE_BLOCKS, sample } from './word.suite.ts';

const MIN_SCORE = 0.95;

const written = (name: string): Buffer =>
  readFileSync(path.join(import.meta.dirname, '../../../../test/fixtures/office', name));

/** The sample as created by the `docx` package, and as saved by LibreOffice. */
const FILES = [
  ['docx (docx)', docx, () => sample()],
  ['docx (LibreOffice)', docx, async () => written('report.docx')],
  ['odt', odt, async () => written('report.odt')],
  ['fodt', odt, async () => gunzipSync(written('report.fodt.gz'))],
  ['rtf', rtf, async () => written('report.rtf')],
] as const;

describe('a known document', () => {
  it.each(FILES)('is read well as %s', async (name, kind, bytes) => {
    const document = await parse(kind, await bytes());
    const blocks = blocksOf(htmlOf(document));
    const score = orderScore(blocks, SAMPLE_BLOCKS);
    console.log(`${name}: ${score.toFixed(3)} of reading order, structure and cells`);
    expect(score).toBeGreaterThan(MIN_SCORE);
    expect(htmlOf(document)).toContain('<b>busy</b>');
    expect(htmlOf(document)).toContain('<a href="https://example.com/ships">ships</a>');
    expect(htmlOf(document)).toContain('<thead>');
    expect(document.title).toBe('Harbour report');
    expect(document.metadata.creator).toBe('Port office');
    expect(document.pageCount).toBe(2);
    expect(document.notes).toEqual([]);
  });
});
