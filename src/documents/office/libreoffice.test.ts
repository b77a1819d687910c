import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
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
const TIMEOUT_MS = 60_000;
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

  it('makes new files of old ones that can be read', async () => {
    const old = await mkdtemp(path.join(dir, 'old-'));
    await writeFile(path.join(old, 'list.fods'), sheetOf(['Rope', 'Tar']));
    await writeFile(path.join(old, 'talk.fodp'), slideOf('Knots'));
    await writeFile(path.join(old, 'letter.txt'), 'Dear Ann');
    await save('doc', path.join(old, 'letter.txt'), old);
    const file = (mediaType: string) => ({ path: '', size: 0, mediaType });
    await save('xls', path.join(old, 'list.fods'), old);
    await save('ppt', path.join(old, 'talk.fodp'), old);
    const xls = path.join(old, 'list.xls');
    const ppt = path.join(old, 'talk.ppt');
    const book = await office.convert(xls, 'application/vnd.ms-excel', 'xlsx', inDir('out'), never, TIMEOUT_MS);
    const talk = await office.convert(ppt, 'application/vnd.ms-powerpoint', 'pptx', inDir('out'), never, TIMEOUT_MS);
    const sheets = await xlsx.parse(file('xlsx'), readFileSync(book), {});
    expect(sheets.pages[0]!.html).toContain('<td>Rope</td><td>1</td>');
    const slides = await pptx.parse(file('pptx'), readFileSync(talk), {});
    expect(slides.pages[0]!.html).toContain('Knots');

    const doc = readFileSync(path.join(old, 'letter.doc'));
    for (const made of [doc, readFileSync(xls), readFileSync(ppt)]) expect(isPasswordProtected(made)).toBe(false);
    // The bit of the file information block that marks encryption. LibreOffice would ask for a password.
    const block = doc.indexOf(Buffer.from('eca5', 'hex'));
    doc[block + 11]! |= 1;
    await writeFile(inDir('locked.doc'), doc);
    await expect(as(DOC, 'locked.doc')).rejects.toMatchObject({ kind: 'encrypted' });
  });

  it('sees the password of sheets and slides in their bytes', () => {
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

  it('calls what makes no file damaged', async () => {
    const ole = Buffer.concat([Buffer.from('d0cf11e0a1b11ae1', 'hex'), Buffer.alloc(5000, 7)]);
    await writeFile(inDir('broken.doc'), ole);
    await expect(as(DOC, 'broken.doc')).rejects.toMatchObject({ kind: 'damaged' });
    expect(await temporary()).toBe(0);
  });

  it('refuses kinds that it has no business with', async () => {
    const call = office.convert(inDir('note.rtf'), 'text/html', 'docx', inDir('out'), never, TIMEOUT_MS);
    await expect(call).rejects.toMatchObject({ kind: 'unsupported' });
  });

  it('opens no connection for pictures that are elsewhere', async () => {
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
    await as(DOCX, 'linked.docx');
    await expect(as(DOC, 'linked.doc')).rejects.toMatchObject({ kind: 'damaged' });
    expect(seen).toBe(0);
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('ends', () => {
  it('kills the whole group when the time is up', async () => {
    const call = convert('note.rtf', 'docx', never, 1_500);
    const [pid] = await Promise.all([stopped(), expect(call).rejects.toMatchObject({ kind: 'too large' })]);
    await soon(pid);
    expect(await temporary()).toBe(0);
    expect(await convert('note.rtf')).toMatch(/docx$/);
  });

  it('kills it when nobody wants the answer any more', async () => {
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

describe('without the program', () => {
  it('says what to install', async () => {
    const none = createLibreOffice({ program: 'none', temporaryDir: inDir('tmp') });
    expect(none.available()).toBe(false);
    const fault = await none.convert(inDir('note.rtf'), RTF, 'docx', inDir('out'), never, 1).catch((error) => error);
    expect(fault).toBeInstanceOf(DocumentError);
    expect(fault.kind).toBe('missing program');
    expect(fault.message).toContain('libreoffice-writer-nogui');
    expect(fault.message).toContain('LECTERN_LIBREOFFICE');
  });

  it('never takes another than the one asked for', () => {
    const wrong = createLibreOffice({ program: inDir('no-such-program'), temporaryDir: inDir('tmp') });
    expect(wrong.available()).toBe(false);
  });
});

/** LibreOffice as a writer of old files, which Lectern never writes. */
async function save(to: string, source: string, outDir: string): Promise<void> {
  const profile = pathToFileURL(path.join(outDir, 'profile'));
  const args = [`-env:UserInstallation=${profile}`, '--headless', '--convert-to', to, '--outdir', outDir, source];
  await promisify(execFile)('soffice', args, { timeout: TIMEOUT_MS });
}

const flat = (body: string, mediaType: string) =>
  `<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" office:version="1.3" office:mimetype="application/vnd.oasis.opendocument.${mediaType}"><office:automatic-styles><style:page-layout style:name="PM1"/></office:automatic-styles><office:master-styles><style:master-page style:name="Default" style:page-layout-name="PM1"/></office:master-styles><office:body>${body}</office:body></office:document>`;

const sheetOf = (names: readonly string[]) => {
  const rows = names.map(
    (name, at) =>
      `<table:table-row><table:table-cell office:value-type="string"><text:p>${name}</text:p></table:table-cell><table:table-cell office:value-type="float" office:value="${at + 1}"/></table:table-row>`,
  );
  const table = `<table:table table:name="List">${rows.join('')}</table:table>`;
  return flat(`<office:spreadsheet>${table}</office:spreadsheet>`, 'spreadsheet');
};

const slideOf = (text: string) =>
  flat(
    `<office:presentation><draw:page draw:master-page-name="Default"><draw:frame svg:x="1cm" svg:y="1cm" svg:width="9cm" svg:height="2cm"><draw:text-box><text:p>${text}</text:p></draw:text-box></draw:frame></draw:page></office:presentation>`,
    'presentation',
  );

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
