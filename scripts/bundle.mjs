// Makes the program of src/: all modules that are loaded together in few files, since finding and opening a thousand of
// them takes longer than reading a page. What the program loads on demand stays apart, and packages that are loaded so
// stay where they were installed. Where a module was, a file of one line is left, so that programs are found by their
// names: `dist/main.js`, `dist/reader/worker.js`.
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = path.join(root, 'src');

/** Modules that are started, or imported by others, by the name of their file. */
export const ENTRIES = [
  'main',
  'flow/index',
  'flow/process/host',
  'concurrency/process-host',
  'documents/worker',
  'ocr/engines/pp-ocr/worker',
  'models/media/worker',
  'ocr/worker',
  'models/onnx/process',
  'models/onnx/thread',
  'reader/worker',
  'search/index/thread',
];
/** Packages that look for files beside their own, or tell failures by the names of classes, which may not stay as they are. */
const APART = [
  '@fastify/ajv-compiler',
  '@fastify/fast-json-stringify-compiler',
  '@napi-rs/canvas',
  '@photostructure/sqlite',
  'pdfjs-dist',
  'piscina',
  'proxy-chain',
  'sharp',
];
/** Packages that are loaded on demand, but by every server, and by their default export, which is all that is left of it. */
const TOGETHER = new Set(['@fastify/compress']);
const CHUNKS = 'chunks';

/** What all builds have in common. */
const COMMON = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  charset: 'utf8',
  conditions: ['source'],
  legalComments: 'none',
  logLevel: 'warning',
  sourcemap: true,
  sourcesContent: false,
};

/**
 * Writes the program into a folder of the project's own: what it looks for beside itself (assets, pages) is found from
 * there. Also writes the licences of the packages that went into it.
 */
export async function bundle(out) {
  const chunks = path.join(out, CHUNKS);
  await rm(chunks, { recursive: true, force: true });
  const { metafile, outputFiles } = await build({
    ...COMMON,
    entryPoints: ENTRIES.map((entry) => ({ in: path.join(source, `${entry}.ts`), out: entry.replaceAll('/', '-') })),
    outdir: chunks,
    splitting: true,
    chunkNames: '[name]-[hash]',
    external: APART.flatMap((name) => [name, `${name}/*`]),
    plugins: [onDemandApart, ownPlaces],
    metafile: true,
    write: false,
  });
  await mkdir(chunks, { recursive: true });
  for (const { path: file, text } of outputFiles) await writeFile(file, requiring(text));
  for (const entry of ENTRIES) await leaveName(out, entry, metafile);
  await writeFile(path.join(out, 'licences.txt'), await licencesOf(Object.keys(metafile.inputs)));
}

/** The client of programs, which may run where there is no Node. */
export async function bundleClient(out) {
  const client = path.join(out, 'client');
  await build({ ...COMMON, platform: 'neutral', entryPoints: [path.join(source, 'client/index.ts')], outdir: client });
}

/** A package that is loaded when something asks for it stays one. */
const onDemandApart = {
  name: 'on demand apart',
  setup({ onResolve }) {
    onResolve({ filter: /^[@a-z]/ }, ({ kind, path: name, importer }) =>
      kind === 'dynamic-import' && !importer.includes('node_modules') && !TOGETHER.has(name)
        ? { path: name, external: true }
        : undefined,
    );
  },
};

/** A module that asks where it is learns where its own file would be. */
const ownPlaces = {
  name: 'own places',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\]src[/\\].*\.ts$/ }, async ({ path: file }) => {
      const place = path.relative(source, file).replaceAll(path.sep, '/').replace(/\.ts$/, '.js');
      const text = await readFile(file, 'utf8');
      const contents = text.replaceAll('import.meta.url', `new URL('../${place}', import.meta.url).href`);
      return { contents, loader: 'ts' };
    });
  },
};

/** Packages of the old kind ask for modules of Node by `require`, which the file that serves them has not. */
function requiring(text) {
  if (!text.includes('var __require = ')) return text;
  // In front of the first line, so that the source map stays true.
  return `import { createRequire as requireOf } from 'node:module'; const require = requireOf(import.meta.url); ${text}`;
}

/** The file under whose name a module is started. */
async function leaveName(out, entry, { outputs }) {
  const chunk = `${CHUNKS}/${entry.replaceAll('/', '-')}.js`;
  const file = path.join(out, `${entry}.js`);
  const from = `./${path.posix.relative(path.posix.dirname(entry), chunk)}`;
  const { exports } = outputs[path.relative(root, path.join(out, chunk)).replaceAll(path.sep, '/')];
  const lines = [
    ...(entry === 'main' ? ['#!/usr/bin/env node'] : []),
    `export * from '${from}';`,
    ...(exports.includes('default') ? [`export { default } from '${from}';`] : []),
  ];
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o755 });
}

/** The licence of each package that files come from, as it stands in the package. */
async function licencesOf(inputs) {
  const folders = new Set(
    inputs.map((input) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0]).filter(Boolean),
  );
  const require = createRequire(import.meta.url);
  const texts = [];
  for (const folder of [...folders].sort()) {
    const { name, version, license } = require(path.join(root, folder, 'package.json'));
    const files = (await readdir(path.join(root, folder))).filter((file) =>
      /^(?:licen[cs]e|notice|copying)/i.test(file),
    );
    const own = await Promise.all(files.sort().map((file) => readFile(path.join(root, folder, file), 'utf8')));
    texts.push([`${name} ${version} (${license})`, ...own.map((text) => text.trim())].join('\n\n'));
  }
  return `Packages that are part of the files in this folder.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

// `node scripts/bundle.mjs [folder]`
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const out = path.resolve(root, process.argv[2] ?? 'dist');
  await bundle(out);
  await bundleClient(out);
}
