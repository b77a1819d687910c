/** The layers of src/: every import is checked against the table in ARCHITECTURE.md. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

/** One row of the table: what a folder of src/ (or a file at its top) may import beside itself. */
interface Row {
  readonly layer: string;
  readonly imports: readonly string[];
}

const ARCHITECTURE = readFileSync(path.resolve(import.meta.dirname, '../ARCHITECTURE.md'), 'utf8');
const ROWS = layersOf(ARCHITECTURE);
const inLayer = (layer: string) => [...ROWS].flatMap(([name, row]) => (row.layer === layer ? [name] : []));
const SHARED = inLayer('shared');
const FEATURES = inLayer('features');

/** The table under "Layers": module, layer, modules it imports; a layer's name stands for all of its modules. */
function layersOf(page: string): Map<string, Row> {
  const section = page.split(/^## /m).find((part) => part.startsWith('Layers\n'))!;
  const cells = [...section.matchAll(/^\| `([^|]+)` \| (\w+) \|([^|]*)\|$/gm)];
  const layerOf = new Map(cells.flatMap(([, names, layer]) => namesIn(names!).map((name) => [name, layer!] as const)));
  const expand = (word: string) => {
    const members = [...layerOf].flatMap(([name, layer]) => (layer === word ? [name] : []));
    return members.length > 0 ? members : [word];
  };
  return new Map(
    cells.flatMap(([, names, layer, imports]) =>
      namesIn(names!).map((name) => [name, { layer: layer!, imports: namesIn(imports!).flatMap(expand) }] as const),
    ),
  );
}

function namesIn(cell: string): string[] {
  return cell.split(/[`,\s]+/).filter((word) => /^[\w-]+$/.test(word));
}

const SRC = path.resolve(import.meta.dirname, '../src');
const files = readdirSync(SRC, { recursive: true, encoding: 'utf8' }).filter(
  (file) => file.endsWith('.ts') && !/\.(test|suite)\.ts$/.test(file),
);
const textOf = (file: string) => readFileSync(path.join(SRC, file), 'utf8');
const homeOf = (file: string) => file.split(path.sep)[0]!.replace(/\.ts$/, '');

function imports(file: string): string[] {
  // Generated tables take only types from the modules that read them.
  const text = textOf(file).replace(/^import type .*$/gm, (line) => (homeOf(file) === 'generated' ? '' : line));
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"](#[^'"]+|\.{1,2}\/[^'"]+)['"]/g);
  return [...found].map(([, target]) =>
    target!.startsWith('#') ? target!.slice(1) : path.relative(SRC, path.resolve(SRC, path.dirname(file), target!)),
  );
}

const crossings = files.flatMap((file) =>
  imports(file).map((target) => ({ file, from: homeOf(file), to: homeOf(target), target })),
);

it('finds imports, and a row for each module', () => {
  expect(crossings.length).toBeGreaterThan(100);
  expect([...ROWS.keys()].sort()).toEqual([...new Set(files.map(homeOf))].sort());
});

it('imports only what the table allows', () => {
  const wrong = crossings.filter(
    ({ from, to }) => from !== to && !SHARED.includes(to) && !ROWS.get(from)!.imports.includes(to),
  );
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('imports a feature module through its index.ts', () => {
  const wrong = crossings.filter(
    ({ from, to, target }) => from !== to && FEATURES.includes(to) && target !== `${to}/index.ts`,
  );
  expect(wrong.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('marks each import of another module with #', () => {
  const relative = files.flatMap((file) => {
    const found = textOf(file).matchAll(/from\s*['"](\.{1,2}\/[^'"]+)['"]/g);
    return [...found].flatMap(([, target]) => {
      const to = homeOf(path.relative(SRC, path.resolve(SRC, path.dirname(file), target!)));
      // The client's types are read outside of this package, where # means nothing.
      return to === homeOf(file) || (homeOf(file) === 'client' && to === 'generated')
        ? []
        : [`${file} imports ${target}`];
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
  expect(imported.filter((target) => !/^\.\/|^\.\.\/generated\//.test(target))).toEqual([]);
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

it('looks tables of texts up through ownValue(), since objects inherit constructor and others', () => {
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
