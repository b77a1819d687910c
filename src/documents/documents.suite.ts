/** The contract of documents: read on this machine, or by workers on others. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { Document, Packer, Paragraph } from 'docx';
import fc from 'fast-check';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TYPES } from './detect.ts';
import { DocumentError, type DocumentFile } from './document.ts';
import type { Documents } from './documents.ts';

const LONG_MS = 240_000;

export interface MakeOptions {
  readonly temporaryDir: string;
  readonly memoryMb?: number;
  readonly timeoutMs?: number;
  /** The LibreOffice program. */
  readonly program?: string;
}

/** `make` creates documents with one process, 1 GB of memory and a time limit of a minute by default. */
export function describeDocuments(name: string, make: (options: MakeOptions) => Promise<Documents>): void {
  describe(name, () => {
    let dir: string;
    let documents: Documents;
    let pdf: Buffer;
    let docx: Buffer;

    beforeAll(async () => {
      dir = mkdtempSync(path.join(os.tmpdir(), 'lectern-documents-'));
      documents = await make({ temporaryDir: dir });
      const made = await PDFDocument.create();
      const font = await made.embedFont(StandardFonts.Helvetica);
      for (let at = 1; at <= 3; at++) made.addPage().drawText(`Words of page ${at}`, { x: 50, y: 500, size: 12, font });
      pdf = Buffer.from(await made.save());
      const sections = [{ children: [new Paragraph('Words of a letter')] }];
      docx = Buffer.from(await Packer.toBuffer(new Document({ sections })));
    });
    afterAll(async () => {
      await documents.close();
      rmSync(dir, { recursive: true });
    });

    let count = 0;
    function file(bytes: Uint8Array, mediaType: string): DocumentFile {
      const at = path.join(dir, String(count++));
      writeFileSync(at, bytes);
      return { path: at, size: bytes.byteLength, mediaType };
    }
    const NEVER = new AbortController().signal;
    const read = (bytes: Uint8Array, mediaType: string, page?: number) =>
      documents.read(file(bytes, mediaType), { page }, NEVER);
    const fault = (work: Promise<unknown>) =>
      work.then(
        () => undefined,
        (error: unknown) => (error instanceof DocumentError ? error : Promise.reject(error)),
      );

    describe('a file', () => {
      it('is read by its content, not its declared type', { timeout: LONG_MS }, async () => {
        expect((await read(docx, TYPES.zip)).mediaType).toBe(TYPES.docx);
        expect((await read(docx, TYPES.xlsx)).mediaType).toBe(TYPES.docx);
        expect((await read(pdf, 'application/x-pdf')).mediaType).toBe(TYPES.pdf);
      });

      it('is rendered', { timeout: LONG_MS }, async () => {
        const png = await documents.picture(file(pdf, TYPES.pdf), { page: 2, scale: 1 }, NEVER);
        expect(Buffer.from(png!.subarray(1, 4)).toString()).toBe('PNG');
        expect(await documents.picture(file(Buffer.from('a,b\n1,2'), TYPES.csv), { page: 1 }, NEVER)).toBeUndefined();
      });

      it('is rendered page by page', { timeout: LONG_MS }, async () => {
        const pages = Array.from({ length: 20 }, (_, at) => (at % 3) + 1);
        const opened = file(pdf, TYPES.pdf);
        const drawn: Buffer[] = [];
        for await (const png of documents.pictures(opened, { pages, scale: 1, as: 'png' }, NEVER))
          drawn.push(Buffer.from(png));
        expect(drawn).toHaveLength(pages.length);
        for (const page of [1, 2, 3]) {
          const alone = await documents.picture(opened, { page, scale: 1 }, NEVER);
          const equal = drawn.map((png) => png.equals(alone!));
          expect(equal).toEqual(pages.map((other) => other === page));
        }
        const others = documents.pictures(file(docx, TYPES.docx), { pages: [1], as: 'png' }, NEVER);
        await expect(others.next()).rejects.toMatchObject({ kind: 'unsupported' });
      });

      it('is read one page at a time', { timeout: LONG_MS }, async () => {
        const second = await read(pdf, TYPES.pdf, 2);
        expect(second).toMatchObject({ pageCount: 3, pages: [{ number: 2 }] });
        expect(second.pages[0]!.html).toContain('Words of page 2');
        expect((await read(pdf, TYPES.pdf, 7)).pages).toHaveLength(3);
      });
    });

    describe('an old Office file', () => {
      it('is detected by its content, converted, read and rendered', { timeout: LONG_MS }, async () => {
        const doc = readFileSync(path.join(import.meta.dirname, '../../test/fixtures/office/letter.doc'));
        const letter = await read(doc, 'application/octet-stream');
        expect(letter.mediaType).toBe(TYPES.doc);
        expect(letter.pages[0]!.html).toContain('Dear <b>Ann</b>, the kiln is hot.');
        const written = file(doc, TYPES.doc);
        const png = await documents.picture(written, { page: 1, scale: 1 }, NEVER);
        expect(Buffer.from(png!.subarray(1, 4)).toString()).toBe('PNG');
        // The PDF that LibreOffice created is reused for the next page.
        const before = readdirSync(dir);
        expect(await documents.picture(written, { page: 1, scale: 1 }, NEVER)).toEqual(png);
        expect(readdirSync(dir)).toEqual(before);
      });
    });

    describe('files that cannot be read are refused with a reason', () => {
      const ole = (...names: string[]) =>
        Buffer.concat([
          Buffer.from('d0cf11e0a1b11ae1', 'hex'),
          Buffer.alloc(1_000),
          ...names.map((name) => Buffer.from(name, 'utf16le')),
        ]);

      it.each([
        ['an encrypted Office file', () => ole('EncryptedPackage', 'EncryptionInfo'), TYPES.docx, 'encrypted'],
        ['an OLE file of another kind', () => ole('Something else'), TYPES.ole, 'unsupported'],
        ['a film', () => Buffer.from('no film'), 'video/mp4', 'unsupported'],
        ['half a PDF', () => pdf.subarray(0, 200), TYPES.pdf, 'damaged'],
        ['words under the name of a PDF', () => Buffer.from('just words'), TYPES.pdf, 'damaged'],
        ['words under the name of a workbook', () => Buffer.from('just words'), TYPES.xlsx, 'damaged'],
        ['half a Word file', () => docx.subarray(0, 600), TYPES.docx, 'damaged'],
        ['nothing at all', () => Buffer.alloc(0), TYPES.docx, 'damaged'],
      ] as const)('%s', { timeout: LONG_MS }, async (_, bytes, mediaType, kind) => {
        expect((await fault(read(bytes(), mediaType)))?.kind).toBe(kind);
      });

      it('an archive that should have been a document', { timeout: LONG_MS }, async () => {
        const cut = file(docx.subarray(0, 600), TYPES.zip);
        expect((await fault(documents.read({ ...cut, name: 'letter.docx' }, {}, NEVER)))?.kind).toBe('damaged');
        expect((await fault(documents.read({ ...cut, contentType: TYPES.docx }, {}, NEVER)))?.kind).toBe('damaged');
        const empty = file(Buffer.from(`504b0506${'00'.repeat(18)}`, 'hex'), TYPES.zip);
        expect((await fault(documents.read({ ...empty, name: 'letter.docx' }, {}, NEVER)))?.kind).toBe('damaged');
        expect((await fault(documents.read({ ...empty, name: 'all.zip' }, {}, NEVER)))?.kind).toBe('unsupported');
      });

      it('an old Office file without LibreOffice, with what to install', { timeout: LONG_MS }, async () => {
        const without = await make({ temporaryDir: dir, program: 'none' });
        const failed = await fault(without.read(file(ole('WordDocument'), TYPES.doc), {}, NEVER));
        expect([failed?.kind, failed?.message]).toEqual([
          'missing program',
          expect.stringContaining('libreoffice-writer'),
        ]);
        await without.close();
      });
    });

    describe('limits', () => {
      it('a file that takes too long is refused, and the next is read', { timeout: LONG_MS }, async () => {
        const hasty = await make({ temporaryDir: dir, timeoutMs: 1 });
        const failed = await fault(hasty.read(file(pdf, TYPES.pdf), {}, NEVER));
        expect([failed?.kind, failed?.message]).toEqual(['too large', expect.stringContaining('0.001 s')]);
        await hasty.close();
        expect((await read(pdf, TYPES.pdf)).pages).toHaveLength(3);
      });

      it.runIf(process.platform === 'linux')(
        'a file that needs too much memory is refused, and the next is read',
        { timeout: LONG_MS },
        async () => {
          const small = await make({ temporaryDir: dir, memoryMb: 200 });
          // Needs more than the limit for half of the time that it takes, so that no check misses it.
          const rows = `${'word,'.repeat(20)}word\n`.repeat(300_000);
          expect((await fault(small.read(file(Buffer.from(rows), TYPES.csv), {}, NEVER)))?.kind).toBe('too large');
          expect((await small.read(file(docx, TYPES.docx), {}, NEVER)).pages).toHaveLength(1);
          await small.close();
        },
      );

      it('rendering ends at the time limit and when its caller aborts, and other files are read between its pages', {
        timeout: LONG_MS,
      }, async () => {
        const hasty = await make({ temporaryDir: dir, timeoutMs: 1 });
        const late = hasty.pictures(file(pdf, TYPES.pdf), { pages: [1, 2], as: 'png' }, NEVER).next();
        await expect(late).rejects.toMatchObject({ kind: 'too large', message: expect.stringContaining('0.001 s') });
        await hasty.close();
        const gone = new AbortController();
        const pages = Array.from({ length: 300 }, (_, at) => (at % 3) + 1);
        const work = documents.pictures(file(pdf, TYPES.pdf), { pages, as: 'png' }, gone.signal);
        expect((await work.next()).done).toBe(false);
        let drawn = 1;
        const rest = async () => {
          for await (const png of work) drawn += Math.min(png.length, 1);
        };
        const ended = expect(rest()).rejects.toThrow('gone');
        // There is only one process, and it processes other files between two batches of pages.
        expect((await read(docx, TYPES.docx)).pages).toHaveLength(1);
        expect(drawn).toBeLessThan(pages.length);
        gone.abort(new Error('gone'));
        await ended;
        expect((await read(docx, TYPES.docx)).pages).toHaveLength(1);
      });

      it('reading ends when its caller aborts', { timeout: LONG_MS }, async () => {
        const gone = new AbortController();
        const work = documents.read(file(pdf, TYPES.pdf), {}, gone.signal);
        gone.abort(new Error('gone'));
        await expect(work).rejects.toThrow('gone');
        expect((await read(docx, TYPES.docx)).pages).toHaveLength(1);
      });
    });

    it('a file with random changes yields pages or a DocumentError', { timeout: LONG_MS }, async () => {
      const seeds = (): [Buffer, string][] => [
        [pdf, TYPES.pdf],
        [docx, TYPES.docx],
        [Buffer.from('{\\rtf1\\ansi Words {\\b of} a letter\\par}'), TYPES.rtf],
        [
          Buffer.from(
            '<?xml version="1.0"?><rss><channel><title>x</title><item><title>y</title></item></channel></rss>',
          ),
          TYPES.rss,
        ],
        [Buffer.from('a,b\n"c ""d""",e\n'), TYPES.csv],
      ];
      const change = fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 12 });
      await fc.assert(
        fc.asyncProperty(fc.nat({ max: 4 }), change, fc.boolean(), async (which, changes, cut) => {
          const [seed, mediaType] = seeds()[which]!;
          const bytes = Buffer.from(seed);
          for (const [at, value] of changes) bytes[at % bytes.length] = value;
          const kept = cut ? bytes.subarray(0, changes[0]![0] % bytes.length) : bytes;
          const outcome = await read(kept, mediaType).catch((error: unknown) => error);
          if (outcome instanceof Error) expect(outcome).toBeInstanceOf(DocumentError);
          else expect(outcome).toMatchObject({ pages: expect.any(Array) });
        }),
        { seed: 7, numRuns: 100 },
      );
    });
  });
}
