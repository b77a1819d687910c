/** How much of a known document is recovered from files that other programs made of it. */
// Full run only: converts whole documents with LibreOffice.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../../parse.suite.ts';
import { kind as rtf } from '../rtf/rtf.ts';
import { kind as docx } from './docx.ts';
import { kind as odt } from './odt.ts';
import { blocksOf, createOfficeFolder, orderScore, SAMPLE_BLOCKS, sample } from './word.suite.ts';

const FLOOR = 0.95;

const KINDS = { 'docx (docx)': docx, 'docx (LibreOffice)': docx, odt, fodt: odt, rtf };
const files = new Map<string, Uint8Array>();
const shop = createOfficeFolder();

beforeAll(async () => {
  const bytes = await sample();
  files.set('docx (docx)', bytes);
  files.set('odt', shop.convert('sample.docx', bytes, 'odt'));
  files.set('fodt', shop.convert('sample.odt', files.get('odt')!, 'fodt'));
  files.set('rtf', shop.convert('sample.odt', files.get('odt')!, 'rtf'));
  files.set('docx (LibreOffice)', shop.convert('again.odt', files.get('odt')!, 'docx'));
}, 300_000);

afterAll(() => shop.close());

describe('a known document', () => {
  it.each(Object.entries(KINDS))('is read well as %s', async (name, kind) => {
    const document = await parse(kind, files.get(name)!);
    const blocks = blocksOf(htmlOf(document));
    const score = orderScore(blocks, SAMPLE_BLOCKS);
    console.log(`${name}: ${score.toFixed(3)} of reading order, structure and cells`);
    expect(score).toBeGreaterThan(FLOOR);
    expect(htmlOf(document)).toContain('<b>busy</b>');
    expect(htmlOf(document)).toContain('<a href="https://example.com/ships">ships</a>');
    expect(htmlOf(document)).toContain('<thead>');
    expect(document.title).toBe('Harbour report');
    expect(document.metadata.creator).toBe('Port office');
    expect(document.pageCount).toBe(2);
    expect(document.notes).toEqual([]);
  });
});
