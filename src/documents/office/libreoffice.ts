/**
 * Converts files with LibreOffice: old Office formats to new ones, and any Office file to PDF. Each conversion runs in
 * its own process group with a temporary profile. It has no network access, runs no macros, follows no links, and is
 * killed at its deadline.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { mkdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { childEnvironment } from '#concurrency/environment.ts';
import { isExecutable, programPaths } from '#concurrency/find-program.ts';
import { officeProfile, removeOfficePipe } from '#concurrency/office-pipe.ts';
import { createProgramFolder, killGroup, OWN_GROUP, type ProgramFolder } from '#concurrency/programs.ts';
import { createTaskQueue } from '#concurrency/task-queue.ts';
import { ownValue } from '#own-value.ts';
import { DocumentError } from '../document.ts';
import { isPasswordProtected } from './password.ts';

export type ConvertedTo = 'docx' | 'xlsx' | 'pptx' | 'pdf';

export interface LibreOffice {
  available(): boolean;
  /**
   * Returns the path of the converted file, in a new folder inside `outDir`. `timeoutMs` counts from the start of the
   * conversion. Throws DocumentError, QueueFullError (no conversion slot became free in time) or the signal's reason.
   */
  convert(
    inputPath: string,
    mediaType: string,
    to: ConvertedTo,
    outDir: string,
    signal: AbortSignal,
    timeoutMs: number,
  ): Promise<string>;
  /** Ids of the running conversion processes. */
  pids(): number[];
  /** Aborts running conversions and refuses new ones. */
  close(): Promise<void>;
}

export interface LibreOfficeOptions {
  /** The program; `none` disables LibreOffice. By default, it is searched for on PATH and in the usual locations. */
  readonly program?: string | undefined;
  readonly temporaryDir: string;
  /** Number of concurrent conversions; each uses one CPU core and about 200 MB. */
  readonly jobs?: number;
}

const MISSING =
  'Old Office formats need LibreOffice, which is not installed on this machine (Debian: `apt install libreoffice-writer-nogui ' +
  'libreoffice-calc-nogui libreoffice-impress-nogui`; elsewhere set LECTERN_LIBREOFFICE to its program)';

/** Maximum number of queued conversions. */
const MAX_WAITING = 32;
const MAX_WAIT_MS = 60_000;
/** Maximum address space of a conversion. LibreOffice itself maps about 1 GB. */
const MAX_MEMORY_KB = 6 * 1024 * 1024;
/** Maximum size of an output file, in blocks of 512 bytes: 512 MB. */
const MAX_FILE_BLOCKS = 1024 * 1024;

const OOXML = 'application/vnd.openxmlformats-officedocument';
const ODF = 'application/vnd.oasis.opendocument';

/**
 * Import filters by type, tried in order. Without a filter, LibreOffice guesses the type and opens almost anything: a
 * damaged file as plain text, or a web page with its images.
 * https://help.libreoffice.org/latest/en-US/text/shared/guide/convertfilters.html
 */
const FROM_FILTERS: Readonly<Record<string, readonly string[]>> = {
  'application/msword': ['MS Word 97', 'MS Word 95', 'MS WinWord 5'],
  'application/vnd.ms-excel': ['MS Excel 97'],
  'application/vnd.ms-powerpoint': ['MS PowerPoint 97'],
  'application/vnd.ms-works': ['MS_Works'],
  'application/vnd.ms-wordml': ['MS Word 2003 XML'],
  'application/rtf': ['Rich Text Format'],
  [`${OOXML}.wordprocessingml.document`]: ['MS Word 2007 XML'],
  [`${OOXML}.spreadsheetml.sheet`]: ['Calc MS Excel 2007 XML'],
  [`${OOXML}.presentationml.presentation`]: ['Impress MS PowerPoint 2007 XML'],
  [`${ODF}.text`]: ['writer8', 'OpenDocument Text Flat XML'],
  [`${ODF}.spreadsheet`]: ['calc8', 'OpenDocument Spreadsheet Flat XML'],
  [`${ODF}.presentation`]: ['impress8', 'OpenDocument Presentation Flat XML'],
};

const TO_FILTERS: Readonly<Record<ConvertedTo, string>> = {
  docx: 'docx:MS Word 2007 XML',
  xlsx: 'xlsx:Calc MS Excel 2007 XML',
  pptx: 'pptx:Impress MS PowerPoint 2007 XML',
  pdf: 'pdf',
};

export function createLibreOffice({ program, temporaryDir, jobs = 1 }: LibreOfficeOptions): LibreOffice {
  const soffice = findProgram(program);
  const queue = createTaskQueue({ count: jobs, maxWaiting: MAX_WAITING, maxWaitMs: MAX_WAIT_MS });
  const running = new Map<number, Promise<unknown>>();
  const closing = new AbortController();

  /** Returns the path of the output; `undefined` if LibreOffice could not read the file. */
  async function run({ soffice, inputPath, from, to, outDir, signal, deadline }: Job): Promise<string | undefined> {
    const folder = await createProgramFolder(temporaryDir);
    const made = path.join(outDir, randomUUID());
    try {
      const user = path.join(officeProfile(folder.path), 'user');
      await mkdir(user, { recursive: true, mode: 0o700 });
      await writeFile(path.join(user, 'registrymodifications.xcu'), SETTINGS);
      await mkdir(made, { recursive: true, mode: 0o700 });
      await runToEnd(limited(soffice, commandLine(folder.path, inputPath, from, to, made)), folder, signal, deadline);
    } finally {
      await removeOfficePipe(folder.path);
      await folder.remove();
    }
    const file = path.join(made, `${path.parse(inputPath).name}.${to}`);
    if ((await sizeOf(file)) > 0) return file;
    await rm(made, { recursive: true, force: true });
    return undefined;
  }

  async function runToEnd(command: Command, folder: ProgramFolder, signal: AbortSignal, deadline: number) {
    const { path: cwd } = folder;
    const child = spawn(...command, { ...OWN_GROUP, stdio: 'ignore', cwd, env: environment(cwd) });
    const { pid } = child;
    const ended = new Promise<void>((resolve) => {
      child.once('close', () => resolve());
      child.once('error', () => resolve());
    });
    if (pid === undefined) throw new DocumentError('missing program', MISSING);
    running.set(pid, ended);
    try {
      folder.recordProcess(pid);
      await endOf(ended, pid, signal, deadline);
    } finally {
      // Also kills all processes that it has started.
      killGroup(pid);
      await ended;
      running.delete(pid);
    }
  }

  return {
    available: () => soffice !== undefined,
    async convert(inputPath, mediaType, to, outDir, caller, timeoutMs) {
      if (soffice === undefined) throw new DocumentError('missing program', MISSING);
      const filters = ownValue(FROM_FILTERS, mediaType);
      if (!filters) throw new DocumentError('unsupported', `Files of the type ${mediaType} cannot be converted`);
      const signal = AbortSignal.any([caller, closing.signal]);
      signal.throwIfAborted();
      await queue.acquire(0, signal);
      try {
        const deadline = Date.now() + timeoutMs;
        for (const from of filters) {
          signal.throwIfAborted();
          const made = await run({ soffice, inputPath, from, to, outDir, signal, deadline });
          if (made) return made;
        }
      } finally {
        queue.release();
      }
      throw await unreadableError(inputPath);
    },
    pids: () => [...running.keys()],
    async close() {
      closing.abort(new DocumentError('missing program', 'The server is closing'));
      await Promise.allSettled(running.values());
    },
  };
}

interface Job {
  readonly soffice: string;
  readonly inputPath: string;
  readonly from: string;
  readonly to: ConvertedTo;
  readonly outDir: string;
  readonly signal: AbortSignal;
  /** In milliseconds since 1970, like Date.now(). */
  readonly deadline: number;
}

type Command = [program: string, args: string[]];

/** Resolves when the process has exited. Kills it and throws at the deadline or on abort. */
async function endOf(ended: Promise<void>, pid: number, signal: AbortSignal, deadline: number): Promise<void> {
  let reason: unknown;
  const kill = (why: unknown) => {
    reason ??= why;
    killGroup(pid);
  };
  const timeUp = new DocumentError('too large', 'The Office file could not be converted in time');
  const timer = setTimeout(() => kill(timeUp), Math.max(0, deadline - Date.now()));
  const stop = () => kill(signal.reason);
  signal.addEventListener('abort', stop, { once: true });
  if (signal.aborted) stop();
  try {
    await ended;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', stop);
  }
  if (reason !== undefined) throw reason;
}

/** Maximum number of bytes examined in a file that LibreOffice could not read. */
const MAX_LOOK_BYTES = 64 * 1024 * 1024;

async function unreadableError(inputPath: string): Promise<DocumentError> {
  const bytes = (await sizeOf(inputPath)) <= MAX_LOOK_BYTES ? await readFile(inputPath) : new Uint8Array();
  return isPasswordProtected(bytes)
    ? new DocumentError('encrypted', 'The Office file is protected by a password')
    : new DocumentError('damaged', 'The Office file could not be converted: it is damaged or not what it claims to be');
}

const sizeOf = (file: string): Promise<number> =>
  stat(file).then(
    (facts) => facts.size,
    () => 0,
  );

const commandLine = (folder: string, inputPath: string, from: string, to: ConvertedTo, outDir: string): string[] => [
  `-env:UserInstallation=${pathToFileURL(officeProfile(folder))}`,
  '--headless',
  '--norestore',
  '--nolockcheck',
  '--nologo',
  `--infilter=${from}`,
  '--convert-to',
  TO_FILTERS[to],
  '--outdir',
  outDir,
  inputPath,
];

/** The shell sets limits for memory and file size, which Node cannot, and then executes the program. */
function limited(program: string, args: string[]): Command {
  if (process.platform === 'win32') return [program, args];
  const memory = process.platform === 'linux' ? `ulimit -v ${MAX_MEMORY_KB}; ` : '';
  return ['/bin/sh', ['-c', `${memory}ulimit -f ${MAX_FILE_BLOCKS}; ulimit -c 0; exec "$0" "$@"`, program, ...args]];
}

/** An environment without network access, not even through the machine's proxy. */
const environment = (folder: string): Record<string, string> =>
  childEnvironment({
    home: folder,
    more: {
      TMPDIR: folder,
      TEMP: folder,
      TMP: folder,
      // A locale that exists on every system and uses UTF-8 file names.
      LANG: 'C.UTF-8',
      SAL_USE_VCLPLUGIN: 'svp',
      http_proxy: NOWHERE,
      https_proxy: NOWHERE,
      all_proxy: NOWHERE,
    },
  });

/** The discard port, on which nothing listens. */
const NOWHERE = 'http://127.0.0.1:9';

/** https://wiki.documentfoundation.org/UserProfile; the names are those of LibreOffice's registry schemas. */
const SETTINGS = settings([
  ['Office.Common/Security/Scripting', 'MacroSecurityLevel', 3],
  ['Office.Common/Security/Scripting', 'DisableMacrosExecution', true],
  ['Office.Common/Security/Scripting', 'DisableActiveContent', true],
  ['Office.Common/Security/Scripting', 'BlockUntrustedRefererLinks', true],
  ['Office.Common/Misc', 'FirstRun', false],
  ['Office.Common/Misc', 'CollectUsageInformation', false],
  ['Office.Common/Misc', 'CrashReport', false],
  ["Office.Jobs/Jobs/org.openoffice.Office.Jobs:Job['UpdateCheck']/Arguments", 'AutoCheckEnabled', false],
  ['Office.Common/History', 'PickListSize', 0],
  ['Office.Calc/Content/Update', 'Link', 2],
  ['Office.Writer/Content/Update', 'Link', 0],
  ['Office.Calc/Formula/Load', 'OOXMLRecalcMode', 1],
  ['Office.Java/VirtualMachine', 'Enable', false],
  ['Inet/Settings', 'ooInetProxyType', 1],
  ['Inet/Settings', 'ooInetNoProxy', ''],
  ['Inet/Settings', 'ooInetHTTPProxyName', '127.0.0.1'],
  ['Inet/Settings', 'ooInetHTTPProxyPort', 9],
  ['Inet/Settings', 'ooInetHTTPSProxyName', '127.0.0.1'],
  ['Inet/Settings', 'ooInetHTTPSProxyPort', 9],
]);

function settings(rows: readonly (readonly [node: string, name: string, value: string | number | boolean])[]): string {
  const items = rows.map(
    ([node, name, value]) =>
      `<item oor:path="/org.openoffice.${node.replaceAll("'", '&apos;')}"><prop oor:name="${name}" oor:op="fuse"><value>${value}</value></prop></item>`,
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry" xmlns:xs="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance">
${items.join('\n')}
</oor:items>
`;
}

const NAMES = ['soffice', 'libreoffice'];

const USUAL_PLACES = [
  '/usr/lib/libreoffice/program/soffice',
  '/usr/local/bin/soffice',
  '/snap/bin/libreoffice',
  '/Applications/LibreOffice.app/Contents/MacOS/soffice',
  'C:\\Program Files\\LibreOffice\\program\\soffice.exe',
];

function findProgram(configured: string | undefined): string | undefined {
  if (configured === 'none') return undefined;
  if (configured) return isExecutable(configured) ? configured : undefined;
  return [...NAMES.flatMap((name) => programPaths(name)), ...optPlaces(), ...USUAL_PLACES].find(isExecutable);
}

/** Install path of LibreOffice's own packages: /opt/libreoffice24.8/program/soffice. */
function optPlaces(): string[] {
  try {
    const versions = readdirSync('/opt').filter((name) => /^libreoffice/i.test(name));
    return versions
      .sort()
      .reverse()
      .map((name) => path.join('/opt', name, 'program/soffice'));
  } catch {
    return [];
  }
}
