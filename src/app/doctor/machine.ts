/** What the machine has: what must be there, and what makes Lectern do more. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '#concurrency/environment.ts';
import type { Config } from '#config.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { findBrowser } from '#reader/index.ts';
import { freeBytes } from '#storage/disk.ts';
import { ownTemporary } from '../own-temporary.ts';
import { absent, broken, type Check, type Found, ok, warning } from './finding.ts';

const GIGABYTE = 1024 ** 3;
const LEAST_MEMORY = 2 * GIGABYTE;
const LITTLE_DISK = 2 * GIGABYTE;
const LEAST_DISK = GIGABYTE / 10;
const LEAST_FILES = 4_096;
const PROGRAM_MS = 30_000;

const run = promisify(execFile);
const gigabytes = (bytes: number) => `${(bytes / GIGABYTE).toFixed(1)} GB`;

/** The output of a program, or undefined when it cannot be run. */
const outputOf = (program: string, args: readonly string[]): Promise<string | undefined> =>
  run(program, [...args], { timeout: PROGRAM_MS, maxBuffer: 1_000_000, env: childEnvironment() }).then(
    ({ stdout, stderr }) => stdout || stderr,
    () => undefined,
  );

const firstLine = (text: string) => text.split('\n', 1)[0]!.trim().slice(0, 80);

export function machineChecks(config: Config): Check[] {
  const group = 'Machine';
  return [
    { group, name: 'Node', run: node },
    { group, name: 'Memory', run: memory },
    { group, name: 'Data folder', run: () => dataFolder(config.dataDir) },
    { group, name: 'Disk', run: () => disk(config.dataDir, config.diskMinFreeBytes) },
    { group, name: 'Temporary folder', run: () => temporary(config.diskMinFreeBytes) },
    { group, name: 'Open files', run: openFiles },
    { group, name: 'Browser', run: () => browser(config) },
    { group, name: 'Text recognition', run: () => tesseract(config) },
    { group, name: 'LibreOffice', run: () => libreOffice(config) },
    { group, name: 'ffmpeg', run: () => ffmpeg(config) },
    { group, name: 'onnxruntime', run: onnxruntime },
  ];
}

function node(): Found {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const version = `${process.versions.node} on ${process.platform} ${process.arch}`;
  if (major > 20 || (major === 20 && minor >= 19)) return ok(version);
  return broken(version, 'Lectern needs Node 20.19 or later');
}

function memory(): Found {
  // A container may be given less than the machine has; without a limit this is 0, or more than there is.
  const limit = process.constrainedMemory?.() ?? 0;
  const total = limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem();
  const found = `${gigabytes(total)}, ${os.availableParallelism()} processors`;
  if (total >= LEAST_MEMORY) return ok(found);
  return warning(
    found,
    'The browser and models want 2 GB: lower LECTERN_BROWSER_PAGES and LECTERN_WORKERS, or serve without a browser',
  );
}

async function dataFolder(dataDir: string): Promise<Found> {
  const probe = path.join(dataDir, `doctor-${randomUUID()}`);
  const isNew = !existsSync(dataDir);
  try {
    await mkdir(dataDir, { recursive: true, mode: 0o700 });
    await writeFile(probe, 'x', { mode: 0o600 });
    return ok(isNew ? `${dataDir}, made now` : dataDir);
  } catch (error) {
    const { code = 'failed' } = error as NodeJS.ErrnoException;
    return broken(
      `${dataDir} cannot be written (${code})`,
      'Give its user the right to, or set LECTERN_DATA_DIR to another folder',
    );
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}

async function disk(dataDir: string, leastFree: number): Promise<Found> {
  const place = existsSync(dataDir) ? dataDir : path.dirname(path.resolve(dataDir));
  const free = await freeBytes(place);
  if (free === undefined) return absent('this system does not tell');
  const found = `${gigabytes(free)} free`;
  if (free < Math.max(leastFree, LEAST_DISK))
    return broken(found, 'Nothing can be kept: make room, or set LECTERN_DATA_DIR to another disk');
  if (free >= LITTLE_DISK) return ok(found);
  return warning(found, 'Lower LECTERN_CACHE_MAX_BYTES and LECTERN_INDEX_MAX_BYTES, which are 5 GB each');
}

/** Where browsers and other programs write; often a disk of its own, in memory. */
async function temporary(leastFree: number): Promise<Found> {
  const folder = path.dirname((await ownTemporary()).path);
  const free = await freeBytes(folder);
  if (free === undefined) return absent('this system does not tell');
  const found = `${folder}, ${gigabytes(free)} free`;
  if (free >= leastFree) return ok(found);
  return broken(
    found,
    'The browser and LibreOffice cannot write: make room, or set TMPDIR to a folder on another disk',
  );
}

async function openFiles(): Promise<Found> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => undefined);
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits ?? '') ?? [];
  if (soft === undefined) return absent('this system does not tell');
  const found = `${soft} may be open at once`;
  if (soft === 'unlimited' || Number(soft) >= LEAST_FILES) return ok(found);
  return warning(
    found,
    `Many requests at once need more: raise it to ${LEAST_FILES} at least (ulimit -n, LimitNOFILE)`,
  );
}

function browser({ browser: configured, dataDir }: Config): Found {
  if (configured === 'none') return absent('LECTERN_BROWSER=none', 'Pages are read without running their scripts');
  const found = findBrowser({ configured, dataDir });
  if (found) return ok(`${found.path} (${found.source})`);
  if (configured)
    return broken(`${configured} cannot be run`, 'LECTERN_BROWSER must name the program of a Chromium or Chrome');
  const advice =
    'Install Chromium (Debian: apt-get install chromium), or set LECTERN_BROWSER to its path: pages are read without their scripts until then';
  return warning('there is none', advice);
}

async function tesseract({ tesseract: configured, ocrLanguages }: Config): Promise<Found> {
  if (configured === 'none') return absent('LECTERN_TESSERACT=none', 'Scanned pages are not read');
  const wanted = ocrLanguages.length ? ocrLanguages : ['eng'];
  const list = configured === 'tesseract.js' ? undefined : await outputOf(configured ?? 'tesseract', ['--list-langs']);
  if (list === undefined && configured && configured !== 'tesseract.js') {
    return broken(`${configured} cannot be run`, 'LECTERN_TESSERACT must name the program');
  }
  const known = list === undefined ? ['eng'] : list.split(/\r?\n/).slice(1).filter(Boolean);
  const missing = wanted.filter((name) => !known.includes(name));
  const what = list === undefined ? 'the built-in one' : 'Tesseract';
  if (!missing.length) return ok(`${what}: ${wanted.join(', ')}`);
  const packages = missing.map((name) => `tesseract-ocr-${name.replaceAll('_', '-').toLowerCase()}`);
  const advice = `On Debian: apt-get install tesseract-ocr ${packages.join(' ')}`;
  return broken(`${what} has not ${missing.join(', ')}, which LECTERN_OCR_LANGUAGES asks for`, advice);
}

function libreOffice({ libreoffice }: Config): Found {
  const known = createLibreOffice({ program: libreoffice, temporaryDir: os.tmpdir() }).available();
  if (known) return ok('found');
  if (libreoffice && libreoffice !== 'none')
    return broken(`${libreoffice} cannot be run`, 'LECTERN_LIBREOFFICE must name its program');
  return absent('there is none', 'Old Office formats (.doc, .xls, .ppt) are not read without it; the new ones are');
}

async function ffmpeg({ ffmpeg: program }: Config): Promise<Found> {
  const told = await outputOf(program ?? 'ffmpeg', ['-version']);
  if (told !== undefined) return ok(firstLine(told).replace(/ Copyright.*/, ''));
  if (program !== undefined) return broken(`${program} cannot be run`, 'LECTERN_FFMPEG must name the program');
  return absent('there is none', 'Sound and video are not read without it');
}

/** Loaded in another process: a library of the machine that is missing would end this one. */
async function onnxruntime(): Promise<Found> {
  let module: string;
  try {
    module = createRequire(import.meta.url).resolve('onnxruntime-node');
  } catch {
    return absent(
      'it is not installed',
      'The built-in models work without it; others need it: npm install onnxruntime-node',
    );
  }
  const script = 'const { InferenceSession } = require(process.argv[1]); console.log(typeof InferenceSession.create)';
  const told = await outputOf(process.execPath, ['-e', script, module]);
  if (told?.trim() === 'function') return ok('it loads');
  return broken(
    'it is installed and does not load',
    'It needs glibc 2.28 or later, or an operating system that it is made for',
  );
}
