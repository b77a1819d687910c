// Full run only: starts LibreOffice.
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { gunzipSync } from 'node:zlib';
import { strToU8, zipSync } from 'fflate';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { DocumentError } from '../document.ts';
import { createLibreOffice, type LibreOffice } from './libreoffice.ts';
import { isPasswordProtected } from './password.ts';
import { kind as xlsx } from './sheet/xlsx.ts';
import { kind as pptx } from './slides/pptx.ts';

const RTF = 'application/rtf';
const DOC = 'application/msword';
const DOCX = 'application/vnd.openxmlformats-officedocument.wordprocessingml.document';
const TIMEOUT_MS = 150_000;
// The first conversion on a busy machine loads several hundred megabytes from disk.
vi.setConfig({ testTimeout: 200_000 });
const never = new AbortController().signal;

let dir: string;
let office: LibreOffice;
const inDir = (name: string) => path.join(dir, name);
const temporary = async () => (await readdir(inDir('tmp/programs')).catch(() => [])).length;

beforeAll(async () => {
  dir = await mkdtemp(path.join(os.tmpdir(), 'libreoffice-test-'));
  office = createLibreOffice({ temporaryDir: inDir('tmp') });
  await mkdir(inDir('out'));
  await writeFile(inDir('note.rtf'), String.raw`{\rtf1\ansi Good morning, {\b dear} reader.\par}`);
});
afterAll(async () => {
  await office.close();
  await rm(dir, { recursive: true, force: true });
});

const convert = (file: string, to: 'docx' | 'pdf' = 'docx', signal = never, timeoutMs = TIMEOUT_MS, type = RTF) =>
  office.convert(inDir(file), type, to, inDir('out'), signal, timeoutMs);

const as = (type: string, file: string) => convert(file, 'pdf', never, TIMEOUT_MS, type);

/** A process that is stopped after its start, so that it never exits by itself. */
async function stopped(): Promise<number> {
  for (;;) {
    const [pid] = office.pids();
    if (pid !== undefined) {
      process.kill(-pid, 'SIGSTOP');
      return pid;
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Whether every process of a group has exited, including zombies. */
function isGone(group: number): boolean {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.every((pid) => {
    try {
      const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
      const [state, , processGroup] = text.slice(text.lastIndexOf(')') + 2).split(' ');
      return Number(processGroup) !== group || state === 'Z' || state === 'X';
    } catch {
      return true;
    }
  });
}

const soon = (group: number) => vi.waitFor(() => expect(isGone(group)).toBe(true), { timeout: 20_000 });

describe('conversion', () => {
  it('makes a docx and a pdf and leaves nothing behind', async () => {
    const [docx, pdf] = await Promise.all([convert('note.rtf'), convert('note.rtf', 'pdf')]);
    expect(docx).toMatch(/note\.docx$/);
    expect(readFileSync(docx).subarray(0, 2).toString()).toBe('PK');
    expect(readFileSync(pdf).subarray(0, 5).toString()).toBe('%PDF-');
    expect(await temporary()).toBe(0);
    expect(office.pids()).toEqual([]);
  });

  it('converts old files to new ones that can be read', async () => {
    const xls = fixture('list.xls');
    const ppt = gunzipSync(fixture('talk.ppt.gz'));
    const doc = fixture('letter.doc');
    await writeFile(inDir('list.xls'), xls);
    await writeFile(inDir('talk.ppt'), ppt);
    const file = (mediaType: string) => ({ path: '', size: 0, mediaType });
    const [book, talk] = await Promise.all([
      office.convert(inDir('list.xls'), 'application/vnd.ms-excel', 'xlsx', inDir('out'), never, TIMEOUT_MS),
      office.convert(inDir('talk.ppt'), 'application/vnd.ms-powerpoint', 'pptx', inDir('out'), never, TIMEOUT_MS),
    ]);
    const sheets = await xlsx.parse(file('xlsx'), readFileSync(book), {});
    expect(sheets.pages[0]!.html).toContain('<td>Rope</td><td>1</td>');
    const slides = await pptx.parse(file('pptx'), readFileSync(talk), {});
    expect(slides.pages[0]!.html).toContain('Knots');

    for (const made of [doc, xls, ppt]) expect(isPasswordProtected(made)).toBe(false);
    // The bit of the file information block that marks encryption. LibreOffice would prompt for a password.
    const block = doc.indexOf(Buffer.from('eca5', 'hex'));
    doc[block + 11]! |= 1;
    await writeFile(inDir('locked.doc'), doc);
    await expect(as(DOC, 'locked.doc')).rejects.toMatchObject({ kind: 'encrypted' });
  });

  it('detects password protection of sheets and slides from their bytes', () => {
    const entry = Buffer.alloc(1024);
    entry.writeUInt32BE(0xd0cf11e0);
    entry.write('Workbook\0', 512, 'utf16le');
    entry.writeUInt16LE(18, 512 + 64);
    const book = Buffer.concat([
      entry,
      Buffer.from('0908100000060500', 'hex'),
      Buffer.alloc(12),
      Buffer.from('2f000600', 'hex'),
    ]);
    book.writeUInt32LE(1, 512 + 116);
    book.writeUInt32LE(9_000, 512 + 120);
    expect(isPasswordProtected(book)).toBe(true);
    book[1024 + 20] = 0x30;
    expect(isPasswordProtected(book)).toBe(false);
    const head = Buffer.alloc(1024);
    head.writeUInt32BE(0xd0cf11e0);
    const user = Buffer.from('0000f60f1c00000014000000dfc4d1f3', 'hex');
    expect(isPasswordProtected(Buffer.concat([head, user]))).toBe(true);
    user[12] = 0x5f;
    expect(isPasswordProtected(Buffer.concat([head, user]))).toBe(false);
  });

  it('reports a file that cannot be converted as damaged', async () => {
    const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(5000, 7)]);
    await writeFile(inDir('broken.doc'), ole);
    await expect(as(DOC, 'broken.doc')).rejects.toMatchObject({ kind: 'damaged' });
    expect(await temporary()).toBe(0);
  });

  it('refuses types that it does not convert', async () => {
    const call = office.convert(inDir('note.rtf'), 'text/html', 'docx', inDir('out'), never, TIMEOUT_MS);
    await expect(call).rejects.toMatchObject({ kind: 'unsupported' });
  });

  it('opens no connection for linked pictures', async () => {
    let seen = 0;
    const server = createServer((_, response) => {
      seen++;
      response.end();
    });
    server.on('connection', () => seen++);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
    await writeFile(inDir('linked.docx'), docxWithPicture(url));
    const html = `<html><body><p>Text</p><img src="${url}"><iframe src="${url}"></iframe></body></html>`;
    await writeFile(inDir('linked.doc'), html);
    await Promise.all([
      as(DOCX, 'linked.docx'),
      expect(as(DOC, 'linked.doc')).rejects.toMatchObject({ kind: 'damaged' }),
    ]);
    expect(seen).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('a conversion', () => {
  it('is killed with its whole process group at the time limit', async () => {
    const call = convert('note.rtf', 'docx', never, 1_500);
    const [pid] = await Promise.all([stopped(), expect(call).rejects.toMatchObject({ kind: 'too large' })]);
    await soon(pid);
    expect(await temporary()).toBe(0);
    expect(await convert('note.rtf')).toMatch(/docx$/);
  });

  it('is killed when its caller aborts', async () => {
    const caller = new AbortController();
    const call = convert('note.rtf', 'docx', caller.signal);
    const refused = expect(call).rejects.toThrow('left');
    const pid = await stopped();
    caller.abort(new Error('left'));
    await refused;
    await soon(pid);
    expect(await temporary()).toBe(0);
  });
});

describe('without LibreOffice', () => {
  it('says what to install', async () => {
    const none = createLibreOffice({ program: 'none', temporaryDir: inDir('tmp') });
    expect(none.available()).toBe(false);
    const fault = await none.convert(inDir('note.rtf'), RTF, 'docx', inDir('out'), never, 1).catch((error) => error);
    expect(fault).toBeInstanceOf(DocumentError);
    expect(fault.kind).toBe('missing program');
    expect(fault.message).toContain('libreoffice-writer-nogui');
    expect(fault.message).toContain('LECTERN_LIBREOFFICE');
  });

  it('uses no other program than the configured one', () => {
    const wrong = createLibreOffice({ program: inDir('no-such-program'), temporaryDir: inDir('tmp') });
    expect(wrong.available()).toBe(false);
  });
});

const fixture = (name: string): Buffer =>
  readFileSync(path.join(import.meta.dirname, '../../../test/fixtures/office', name));

function docxWithPicture(url: string): Uint8Array {
  const relationship = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
  const drawing = 'http://schemas.openxmlformats.org/drawingml/2006';
  const picture = `<pic:pic xmlns:pic="${drawing}/picture"><pic:nvPicPr><pic:cNvPr id="1" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:link="rId5"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="900000" cy="900000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></pic:spPr></pic:pic>`;
  return zipSync({
    '[Content_Types].xml': strToU8(
      `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    ),
    '_rels/.rels': strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId1" Type="${relationship}/officeDocument" Target="word/document.xml"/></Relationships>`,
    ),
    'word/_rels/document.xml.rels': strToU8(
      `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="rId5" Type="${relationship}/image" Target="${url}" TargetMode="External"/></Relationships>`,
    ),
    'word/document.xml': strToU8(
      `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:r="${relationship}" xmlns:a="${drawing}/main" xmlns:wp="${drawing}/wordprocessingDrawing"><w:body><w:p><w:r><w:t>Text</w:t></w:r><w:r><w:drawing><wp:inline><wp:extent cx="900000" cy="900000"/><wp:docPr id="1" name="p"/><a:graphic><a:graphicData uri="${drawing}/picture">${picture}</a:graphicData></a:graphic></wp:inline></w:drawing></w:r></w:p></w:body></w:document>`,
    ),
  });
}
