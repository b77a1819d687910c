// Builds playground/ into dist/playground: the playground (a script, a worker, two style sheets and the page) and the page
// of the API with Swagger UI. File names contain a hash of the content, so that browsers can cache the files forever.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { collectLicenses } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = path.join(root, 'playground');
const target = path.join(root, 'dist', 'playground');

const inputs = [];
const bundle = async (entry, options = {}) => {
  const { outputFiles, metafile } = await build({
    absWorkingDir: source,
    entryPoints: [entry],
    bundle: true,
    write: false,
    metafile: true,
    minify: true,
    format: 'esm',
    target: ['es2022', 'chrome111', 'firefox113', 'safari16.4'],
    charset: 'utf8',
    legalComments: 'none',
    logLevel: 'warning',
    ...options,
  });
  inputs.push(...Object.keys(metafile.inputs).map((file) => path.relative(root, path.resolve(source, file))));
  return outputFiles[0].contents;
};

const write = (name, ending, contents) => {
  const digest = createHash('sha256').update(contents).digest('hex').slice(0, 16);
  const file = `${name}.${digest}.${ending}`;
  writeFileSync(path.join(target, file), contents);
  return `/playground/${file}`;
};

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const frame = write('frame', 'css', await bundle('src/frame.css'));
const style = write('style', 'css', await bundle('src/style.css'));
const worker = write('markdown-worker', 'js', await bundle('src/markdown-worker.ts', { conditions: ['worker'] }));
const script = write(
  'script',
  'js',
  await bundle('src/main.tsx', {
    jsx: 'automatic',
    jsxImportSource: 'preact',
    tsconfig: path.join(source, 'tsconfig.json'),
    define: {
      'process.env.NODE_ENV': '"production"',
      FRAME_STYLE: JSON.stringify(frame),
      MARKDOWN_WORKER: JSON.stringify(worker),
    },
  }),
);
const html = readFileSync(path.join(source, 'index.html'), 'utf8')
  .replace('{{style}}', style)
  .replace('{{script}}', script);
writeFileSync(path.join(target, 'index.html'), html);

const tsconfig = path.join(source, 'tsconfig.json');
const api = readFileSync(path.join(source, 'api/index.html'), 'utf8')
  .replace('{{style}}', write('api', 'css', await bundle('api/style.css')))
  .replace('{{script}}', write('api', 'js', await bundle('api/main.ts', { tsconfig })));
writeFileSync(path.join(target, 'api.html'), api);

/** Swagger UI is a bundle: its own file names the packages in it. */
const bundled = readFileSync(
  path.join(root, 'node_modules/swagger-ui-dist/swagger-ui-es-bundle.js.LICENSE.txt'),
  'utf8',
);
write('licences', 'txt', `${await collectLicenses(inputs)}\n${'-'.repeat(80)}\n\nIn swagger-ui-dist:\n\n${bundled}`);
