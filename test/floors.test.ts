/** Which floor stands on which (ARCHITECTURE.md): every import of the sources is held against this table. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

const ANYBODY = ['concurrency', 'telemetry', 'config', 'errors', 'plans', 'own'];
const GROUND = ['net', 'http', 'html', 'storage', 'documents'];
const ROOMS = ['search', 'reader', 'crawl', 'models', 'batch', 'flow', 'accounts'];
const DOORS = ['api', 'mcp'];

/** What each folder of src/ (or file at its top) may import, itself and ANYBODY aside. */
const MAY: Record<string, readonly string[]> = {
  main: ['cli'],
  // A program's standard streams are a door for one client.
  cli: ['app', 'client', 'mcp', ...ROOMS],
  // Tools ask the faces of their own process as anybody would.
  app: ['client', ...DOORS, ...ROOMS, ...GROUND],
  api: [...ROOMS, ...GROUND],
  mcp: ['client', ...ROOMS, ...GROUND],
  search: ['reader', 'models', ...GROUND],
  reader: ['models', ...GROUND],
  crawl: ['reader', ...GROUND],
  batch: ['models', ...GROUND],
  flow: ['models', ...GROUND],
  models: GROUND,
  accounts: GROUND,
  ...Object.fromEntries([...GROUND, ...ANYBODY].map((name) => [name, []])),
  documents: ['html'],
  client: [],
};

const SRC = path.resolve(import.meta.dirname, '../src');
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.(test|suite)\.ts$/.test(file),
);
const textOf = (file: string) => readFileSync(path.join(SRC, file), 'utf8');
const homeOf = (file: string) => file.split(path.sep)[0]!.replace(/\.ts$/, '');

function imports(file: string): string[] {
  const text = readFileSync(path.join(SRC, file), 'utf8');
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"](#[^'"]+|\.{1,2}\/[^'"]+)['"]/g);
  return [...found].map(([, target]) =>
    target!.startsWith('#') ? target!.slice(1) : path.relative(SRC, path.resolve(SRC, path.dirname(file), target!)),
  );
}

const crossings = files.flatMap((file) =>
  imports(file).map((target) => ({ file, from: homeOf(file), to: homeOf(target), target })),
);

it('reads imports at all', () => expect(crossings.length).toBeGreaterThan(100));

it('imports only downwards', () => {
  const wrong = crossings.filter(({ from, to }) => from !== to && !ANYBODY.includes(to) && !MAY[from]?.includes(to));
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('enters a room by its index', () => {
  const wrong = crossings.filter(
    ({ from, to, target }) => from !== to && ROOMS.includes(to) && target !== `${to}/index.ts`,
  );
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('shows each crossing between rooms by a # import', () => {
  const relative = files.flatMap((file) => {
    const text = readFileSync(path.join(SRC, file), 'utf8');
    const found = text.matchAll(/from\s*['"](\.{1,2}\/[^'"]+)['"]/g);
    return [...found].flatMap(([, target]) => {
      const to = homeOf(path.relative(SRC, path.resolve(SRC, path.dirname(file), target!)));
      return to === homeOf(file) ? [] : [`${file} imports ${target}`];
    });
  });
  expect(relative).toEqual([]);
});

it('gives every process that is started the shared environment', () => {
  const starters = files.filter((file) => /from 'node:child_process'|\bchromium\.launch\(/.test(textOf(file)));
  const launches = starters.filter((file) => /\b(?:spawn|fork|execFile|launch)\b/.test(textOf(file)));
  expect(launches.length).toBeGreaterThan(5);
  // An executor of the operator's own keeps the operator's variables (flow/process/environment.ts).
  const shared = /\b(?:childEnvironment|executorEnvironment)\(/;
  expect(launches.filter((file) => !shared.test(textOf(file)))).toEqual([]);
});

it('leaves the client alone: it runs in browsers too', () => {
  const imported = files
    .filter((file) => homeOf(file) === 'client')
    .flatMap((file) => {
      const text = readFileSync(path.join(SRC, file), 'utf8');
      return [...text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, target]) => target!);
    });
  expect(imported.length).toBeGreaterThan(10);
  expect(imported.filter((target) => !target.startsWith('./'))).toEqual([]);
});

/** These dial sockets in folders of ours, or were started with one. */
const OWN_SOCKETS = ['app/in-process.ts', 'flow/process/host.ts', 'storage/process-folder.ts'].map(path.normalize);

it('lets only net/ open a connection to an address that a caller chose', () => {
  // Types alone dial nobody.
  const dialers =
    /^import (?!type )[^;]*from ['"](?:undici|node:net|node:tls|node:https|impit|proxy-chain)['"]|(?<![\w.])fetch\(['"`]http/m;
  const wrong = files.filter((file) => {
    const home = homeOf(file);
    return home !== 'net' && !OWN_SOCKETS.includes(file) && dialers.test(readFileSync(path.join(SRC, file), 'utf8'));
  });
  expect(wrong).toEqual([]);
});

it('looks tables of texts up through own(), since objects inherit constructor and others', () => {
  const wrong = files.flatMap((file) => {
    const text = readFileSync(path.join(SRC, file), 'utf8');
    const tables = [...text.matchAll(/^(?:export )?const ([A-Z][A-Z\d_]*): (?:Readonly<|Partial<)*Record<string,/gm)];
    return tables.flatMap(([, table]) => {
      // With `!` the key is known to be there; `TABLE.key` and `TABLE['key']` are words of ours.
      const bare = new RegExp(
        `(?<![\\w.])${table}(?:\\?\\.)?\\[(?!['"])[^\\]]*\\](?!!| =)|\\]: [^}=]*\\} = ${table}\\b`,
        'g',
      );
      return [...text.matchAll(bare)].map(([found]) => `${file}: ${found}`);
    });
  });
  expect(wrong).toEqual([]);
});
