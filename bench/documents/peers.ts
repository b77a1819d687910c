/**
 * The other converters. They are no dependencies of the project: the packages are taken from a folder with
 * `node_modules`, or installed into one; pandoc and Java from the machine.
 */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { type Absent, type Converter, type OpenConverter, oneByOne } from './converter.ts';
import type { TestFile } from './folder.ts';

const run = promisify(execFile);
const MAX_OUTPUT = 256 * 1024 * 1024;
const TIMEOUT_MS = 150_000;

interface PackagePeer {
  readonly name: string;
  readonly package: string;
  readonly formats: readonly string[];
  /** Programs that it needs. */
  readonly needs?: string;
  /** `load` imports the package. */
  open(load: () => Promise<Record<string, unknown>>): Promise<OpenConverter>;
}

const PACKAGES: readonly PackagePeer[] = [
  {
    name: 'liteparse',
    package: '@llamaindex/liteparse',
    formats: ['pdf'],
    async open(load) {
      const { LiteParse } = (await load()) as {
        LiteParse: new (options: object) => { parse(file: string): Promise<{ text: string }> };
      };
      const parser = new LiteParse({ outputFormat: 'markdown', ocrEnabled: false, imageMode: 'off', quiet: true });
      return oneByOne(async (file) => (await parser.parse(file.path)).text);
    },
  },
  {
    name: 'pdf-inspector',
    package: '@firecrawl/pdf-inspector',
    formats: ['pdf'],
    async open(load) {
      const { processPdfAsync } = (await load()) as {
        processPdfAsync(bytes: Buffer): Promise<{ markdown?: string }>;
      };
      return oneByOne(async (file) => (await processPdfAsync(await readFile(file.path))).markdown ?? '');
    },
  },
  {
    name: 'opendataloader',
    package: '@opendataloader/pdf',
    formats: ['pdf'],
    needs: 'java',
    async open(load) {
      const { convert } = (await load()) as { convert(files: string[], options: object): Promise<string> };
      return { convert: (files) => byFolder(files, convert), close: async () => undefined };
    },
  },
  {
    name: 'mammoth',
    package: 'mammoth',
    formats: ['docx'],
    async open(load) {
      const loaded = await load();
      const { convertToMarkdown } = (loaded.default ?? loaded) as Mammoth;
      return oneByOne(async (file) => (await convertToMarkdown({ path: file.path })).value);
    },
  },
];

interface Mammoth {
  convertToMarkdown(input: { path: string }): Promise<{ value: string }>;
}

/** Converts the files of each folder in one call, because each call starts a Java virtual machine. */
async function* byFolder(
  files: readonly TestFile[],
  convert: (files: string[], options: object) => Promise<string>,
): AsyncGenerator<string | Error> {
  const out = await mkdtemp(path.join(os.tmpdir(), 'lectern-bench-peer-'));
  try {
    const folderOf = ({ name }: TestFile) => path.join(out, path.dirname(name));
    for (const folder of new Set(files.map(folderOf))) {
      const inside = files.filter((file) => folderOf(file) === folder).map((file) => file.path);
      const options = { outputDir: folder, format: 'markdown', imageOutput: 'off', quiet: true };
      // If one file makes the call fail, the others are converted alone.
      await convert(inside, options).catch(async () => {
        for (const file of inside) await convert([file], options).catch(() => '');
      });
    }
    for (const file of files) {
      const result = path.join(folderOf(file), `${path.parse(file.name).name}.md`);
      yield existsSync(result) ? readFileSync(result, 'utf8') : new Error('it wrote no Markdown');
    }
  } finally {
    await rm(out, { recursive: true, force: true });
  }
}

const firstLineOf = (program: string, ...args: string[]): string | null => {
  try {
    return execFileSync(program, args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' }).split('\n')[0]!;
  } catch {
    return null;
  }
};

const PANDOC_FORMATS = ['docx', 'odt', 'rtf', 'epub'];

function pandoc(): Converter | Absent {
  const version = firstLineOf('pandoc', '--version');
  if (version === null) return { name: 'pandoc', reason: 'the program is not installed' };
  return {
    name: 'pandoc',
    version: version.replace(/^\S+ /, ''),
    reads: (format) => PANDOC_FORMATS.includes(format),
    open: async () =>
      oneByOne(async ({ path: file, format }) => {
        const options = { maxBuffer: MAX_OUTPUT, timeout: TIMEOUT_MS };
        return (await run('pandoc', ['--from', format, '--to', 'gfm', file], options)).stdout;
      }),
  };
}

function fromPackage(peer: PackagePeer, folder: string | undefined): Converter | Absent {
  const { name, package: id, formats, needs } = peer;
  const manifest = folder && path.join(folder, 'node_modules', id, 'package.json');
  if (!folder || !manifest || !existsSync(manifest)) return { name, reason: `${id} is not in the folder of peers` };
  if (needs && firstLineOf(needs, '-version') === null) return { name, reason: `${needs} is not installed` };
  const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
  const resolve = createRequire(path.join(path.resolve(folder), 'peers.js')).resolve;
  return {
    name,
    version,
    reads: (format) => formats.includes(format),
    open: () => peer.open(() => import(pathToFileURL(resolve(id)).href) as Promise<Record<string, unknown>>),
  };
}

/** `folder`: where the packages are installed. */
export const findPeers = (folder: string | undefined): (Converter | Absent)[] => [
  ...PACKAGES.map((peer) => fromPackage(peer, folder)),
  pandoc(),
];

/** Installs the packages of the peers into a folder, without their install scripts. */
export const installPeers = (folder: string): void => {
  const args = ['install', '--prefix', folder, '--no-save', '--ignore-scripts', '--no-audit', '--no-fund'];
  execFileSync('npm', [...args, ...PACKAGES.map((peer) => peer.package)], { stdio: ['ignore', 'ignore', 'inherit'] });
};
