/** Checks of the machine: its requirements, and optional programs that Lectern uses. */
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { childEnvironment } from '#concurrency/environment.ts';
import type { Config } from '#config.ts';
import { createFolder } from '#create-folder.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { findBrowser } from '#reader/index.ts';
import { freeBytes } from '#storage/disk.ts';
import { processTemporaryFolder } from '../temporary-folder.ts';
import { absent, broken, type Check, type CheckResult, ok, warning } from './finding.ts';

const GIGABYTE = 1024 ** 3;
const MIN_MEMORY_BYTES = 2 * GIGABYTE;
/** If the data disk has less free space than this, a warning is shown. */
const LOW_DISK_BYTES = 2 * GIGABYTE;
/** If the data disk has less free space than this, the check fails. */
const MIN_DISK_BYTES = GIGABYTE / 10;
const MIN_OPEN_FILES = 4_096;
const PROGRAM_TIMEOUT_MS = 30_000;

const run = promisify(execFile);
const gigabytes = (bytes: number) => `${(bytes / GIGABYTE).toFixed(1)} GB`;

/** Runs a program and returns its output; `undefined` if it cannot be run. */
const outputOf = (program: string, args: readonly string[]): Promise<string | undefined> =>
  run(program, [...args], { timeout: PROGRAM_TIMEOUT_MS, maxBuffer: 1_000_000, env: childEnvironment() }).then(
    ({ stdout, stderr }) => stdout || stderr,
    () => undefined,
  );

const firstLine = (text: string) => text.split('\n', 1)[0]!.trim().slice(0, 80);

export function machineChecks(config: Config): Check[] {
  const group = 'Machine';
  return [
    { group, name: 'Node', run: checkNode },
    { group, name: 'Memory', run: checkMemory },
    { group, name: 'Data folder', run: () => checkDataFolder(config.dataDir) },
    { group, name: 'Disk', run: () => checkDisk(config.dataDir, config.diskMinFreeBytes) },
    { group, name: 'Temporary folder', run: () => checkTemporaryFolder(config.diskMinFreeBytes) },
    { group, name: 'Open files', run: checkOpenFiles },
    { group, name: 'Browser', run: () => checkBrowser(config) },
    { group, name: 'Text recognition', run: () => checkOcr(config) },
    { group, name: 'LibreOffice', run: () => checkLibreOffice(config) },
    { group, name: 'ffmpeg', run: () => checkFfmpeg(config) },
    { group, name: 'onnxruntime', run: checkOnnxruntime },
  ];
}

function checkNode(): CheckResult {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  const version = `${process.versions.node} on ${process.platform} ${process.arch}`;
  if (major > 20 || (major === 20 && minor >= 19)) return ok(version);
  return broken(version, 'Install Node 20.19 or later');
}

function checkMemory(): CheckResult {
  // The memory limit of a container. Without a limit, the value is 0 or exceeds the memory of the machine.
  const limit = process.constrainedMemory?.() ?? 0;
  const total = limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem();
  const found = `${gigabytes(total)}, ${os.availableParallelism()} processors`;
  if (total >= MIN_MEMORY_BYTES) return ok(found);
  return warning(
    found,
    'The browser and models need 2 GB. Lower LECTERN_BROWSER_PAGES and LECTERN_WORKERS, or set LECTERN_BROWSER=none',
  );
}

async function checkDataFolder(dataDir: string): Promise<CheckResult> {
  const probe = path.join(dataDir, `doctor-${randomUUID()}`);
  const isNew = !existsSync(dataDir);
  try {
    await createFolder(dataDir, 0o700);
    await writeFile(probe, 'x', { mode: 0o600 });
    return ok(isNew ? `${dataDir}, created now` : dataDir);
  } catch (error) {
    const { code = 'failed' } = error as NodeJS.ErrnoException;
    return broken(
      `cannot write to ${dataDir} (${code})`,
      'Give the user of this process write access, or set LECTERN_DATA_DIR to another folder',
    );
  } finally {
    await rm(probe, { force: true }).catch(() => {});
  }
}

async function checkDisk(dataDir: string, leastFree: number): Promise<CheckResult> {
  const folder = existsSync(dataDir) ? dataDir : path.dirname(path.resolve(dataDir));
  const free = await freeBytes(folder);
  if (free === undefined) return absent('unknown on this system');
  const found = `${gigabytes(free)} free`;
  if (free < Math.max(leastFree, MIN_DISK_BYTES))
    return broken(found, 'Nothing can be stored. Free space, or set LECTERN_DATA_DIR to a folder on another disk');
  if (free >= LOW_DISK_BYTES) return ok(found);
  return warning(
    found,
    'Free space, or lower LECTERN_CACHE_MAX_BYTES and LECTERN_INDEX_MAX_BYTES (by default 5 GB each)',
  );
}

/** Checks the folder that the browser and other programs write to. It is often a separate file system in memory. */
async function checkTemporaryFolder(leastFree: number): Promise<CheckResult> {
  const folder = path.dirname((await processTemporaryFolder()).path);
  const free = await freeBytes(folder);
  if (free === undefined) return absent('unknown on this system');
  const found = `${folder}, ${gigabytes(free)} free`;
  if (free >= leastFree) return ok(found);
  return broken(
    found,
    'The browser and LibreOffice cannot write. Free space, or set TMPDIR to a folder on another disk',
  );
}

async function checkOpenFiles(): Promise<CheckResult> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch(() => undefined);
  const [, soft] = /^Max open files\s+(\S+)/m.exec(limits ?? '') ?? [];
  if (soft === undefined) return absent('unknown on this system');
  const found = `limit ${soft}`;
  if (soft === 'unlimited' || Number(soft) >= MIN_OPEN_FILES) return ok(found);
  return warning(
    found,
    `Too few for many concurrent requests. Raise the limit to at least ${MIN_OPEN_FILES} (ulimit -n, LimitNOFILE)`,
  );
}

function checkBrowser({ browser: configured, dataDir }: Config): CheckResult {
  if (configured === 'none')
    return absent('LECTERN_BROWSER=none', 'Pages are read without running their scripts. Unset it to use a browser');
  const found = findBrowser({ configured, dataDir });
  if (found) return ok(`${found.path} (${found.source})`);
  if (configured) return broken(`${configured} cannot be run`, 'Set LECTERN_BROWSER to the path of Chromium or Chrome');
  const advice = 'Pages are read without running their scripts. `lectern browser install` gets a browser';
  return warning('not found', advice);
}

async function checkOcr({ tesseract: configured, ocrLanguages }: Config): Promise<CheckResult> {
  if (configured === 'none')
    return absent('LECTERN_TESSERACT=none', 'Text in scanned pages and images is not recognized');
  const wanted = ocrLanguages.length ? ocrLanguages : ['eng'];
  const list = configured === 'tesseract.js' ? undefined : await outputOf(configured ?? 'tesseract', ['--list-langs']);
  if (list === undefined && configured && configured !== 'tesseract.js') {
    return broken(`${configured} cannot be run`, 'Set LECTERN_TESSERACT to the path of Tesseract');
  }
  const known = list === undefined ? ['eng'] : list.split(/\r?\n/).slice(1).filter(Boolean);
  const missing = wanted.filter((name) => !known.includes(name));
  const what = list === undefined ? 'built-in' : 'Tesseract';
  if (!missing.length) return ok(`${what}: ${wanted.join(', ')}`);
  const packages = missing.map((name) => `tesseract-ocr-${name.replaceAll('_', '-').toLowerCase()}`);
  const advice = `On Debian: apt-get install tesseract-ocr ${packages.join(' ')}`;
  return broken(`${what}: language ${missing.join(', ')} of LECTERN_OCR_LANGUAGES is missing`, advice);
}

function checkLibreOffice({ libreoffice }: Config): CheckResult {
  const known = createLibreOffice({ program: libreoffice, temporaryDir: os.tmpdir() }).available();
  if (known) return ok('found');
  if (libreoffice && libreoffice !== 'none')
    return broken(`${libreoffice} cannot be run`, 'Set LECTERN_LIBREOFFICE to the path of LibreOffice');
  return absent('not found', 'Needed only for the old Office formats (.doc, .xls, .ppt)');
}

async function checkFfmpeg({ ffmpeg: program }: Config): Promise<CheckResult> {
  const output = await outputOf(program ?? 'ffmpeg', ['-version']);
  if (output !== undefined) return ok(firstLine(output).replace(/ Copyright.*/, ''));
  if (program !== undefined) return broken(`${program} cannot be run`, 'Set LECTERN_FFMPEG to the path of ffmpeg');
  return absent('not found', 'Needed for audio and video');
}

/** The package is loaded in a child process, because a missing system library would crash this process. */
async function checkOnnxruntime(): Promise<CheckResult> {
  let module: string;
  try {
    module = createRequire(import.meta.url).resolve('onnxruntime-node');
  } catch {
    return absent(
      'not installed',
      'Local models and text recognition run in WebAssembly. With it they are faster: npm install onnxruntime-node --ignore-scripts',
    );
  }
  const script = 'const { InferenceSession } = require(process.argv[1]); console.log(typeof InferenceSession.create)';
  const output = await outputOf(process.execPath, ['-e', script, module]);
  if (output?.trim() === 'function') return ok('loads');
  return broken(
    'installed, but does not load',
    'On Linux it needs glibc 2.28 or later. Check that it supports this operating system and processor',
  );
}
