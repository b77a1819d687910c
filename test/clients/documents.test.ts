/** Published clients that convert files, with the compat host of a real server: only the URL and the key are ours. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { glazeDocx, kilnPdf } from '../compat/documents.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);
const LONG_MS = 240_000;
const installed = existsSync(path.join(import.meta.dirname, 'node_modules', '@mistralai', 'mistralai'));

describe.skipIf(!installed)('clients that convert files', () => {
  let server: TestServer;
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the results
  let got: any;

  beforeAll(async () => {
    server = await startServer();
    const dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-clients-'));
    const [pdf, office] = [path.join(dir, 'kiln.pdf'), path.join(dir, 'glaze.docx')];
    await writeFile(pdf, await kilnPdf());
    await writeFile(office, await glazeDocx());
    const program = path.join(import.meta.dirname, 'documents.mjs');
    const args = [program, server.urls.compat!, server.app.firstKey!, pdf, office];
    const { stdout } = await run(process.execPath, args, { maxBuffer: 64 * 1024 * 1024 });
    await rm(dir, { recursive: true });
    // Some clients print lines of their own. Our result is the last line.
    got = JSON.parse(stdout.slice(stdout.lastIndexOf('\n{"mistral"') + 1));
  }, LONG_MS);
  afterAll(() => server?.close());

  it('Mistral’s SDK uploads, reads by a signed URL, lists and deletes', () => {
    const { file, read, byId, listed, retrieved, deleted } = got.mistral;
    expect(file).toMatchObject({ object: 'file', filename: 'kiln.pdf', purpose: 'ocr', sampleType: 'ocr_input' });
    expect(read.pages.map(({ markdown }: { markdown: string }) => markdown.split('\n')[0])).toEqual([
      '# Clay',
      '# Wheel',
      '# Fire',
    ]);
    expect(read.pages[0].dimensions).toEqual({ dpi: 200, width: 1653, height: 2339 });
    expect(read.pages[0].blocks).toMatchObject([{ type: 'title' }, { type: 'text' }]);
    expect(byId.pages.map(({ index }: { index: number }) => index)).toEqual([1]);
    expect(listed).toEqual([file.id]);
    expect(retrieved.id).toBe(file.id);
    expect(deleted).toEqual({ id: file.id, object: 'file', deleted: true });
  });

  it('Mistral’s SDK gets pictures and tables', () => {
    const [page] = got.mistral.pictures.pages;
    expect(page.markdown).toContain('[tbl-0.html](tbl-0.html)');
    expect(page.tables).toMatchObject([{ id: 'tbl-0.html', format: 'html' }]);
    expect(page.images).toMatchObject([{ id: 'img-0.png', imageBase64: expect.stringMatching(/^data:image\/png/) }]);
  });

  it('Mistral’s SDK understands the errors', () => {
    const { badKey, badFile, badPages } = got.mistral;
    expect([badKey.status, badFile.status, badPages.status]).toEqual([401, 404, 422]);
    expect(badPages).toMatchObject({ name: 'HTTPValidationError' });
  });

  it('Unstructured’s client gets elements and chunks, and splits PDFs itself', () => {
    const { elements, parts, chunks, badKey } = got.unstructured;
    const types = (list: { type: string }[]) => list.map(({ type }) => type);
    expect(types(elements)).toEqual(['Title', 'NarrativeText', 'ListItem', 'ListItem', 'Title', 'Table', 'Image']);
    const pages = parts.map(({ metadata }: { metadata: { page_number: number } }) => metadata.page_number);
    expect(pages).toEqual([1, 1, 2, 2, 3, 3]);
    expect(new Set(types(chunks))).toEqual(new Set(['CompositeElement']));
    expect(badKey.status).toBe(401);
  });

  it('LangChain’s loader makes documents', () => {
    const { documents, chunks } = got.langchain;
    expect(documents[0]).toMatchObject({
      pageContent: 'Glazes',
      metadata: { category: 'Title', filename: 'glaze.docx' },
    });
    expect(chunks).toHaveLength(1);
    expect(chunks[0].pageContent).toContain('The second page speaks of the wheel');
  });
});
