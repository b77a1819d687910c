/** The layers of src/: checks every import against the table in ARCHITECTURE.md. */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';

/** One row of the table: the modules that a folder of src/ (or a top-level file) may import besides itself. */
interface Row {
  readonly layer: string;
  readonly imports: readonly string[];
}

const ARCHITECTURE = readFileSync(path.resolve(import.meta.dirname, '../ARCHITECTURE.md'), 'utf8');
const ROWS = layersOf(ARCHITECTURE);
const inLayer = (layer: string) => [...ROWS].flatMap(([name, row]) => (row.layer === layer ? [name] : []));
const SHARED = inLayer('shared');
const FEATURES = inLayer('features');

/**
 * Parses the table under "Layers": module, layer, imported modules. The name of a layer stands for all modules in it.
 */
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
const moduleOf = (file: string) => file.split(path.sep)[0]!.replace(/\.ts$/, '');

function imports(file: string): string[] {
  // Generated tables import only types from the modules that read them.
  const text = textOf(file).replace(/^import type .*$/gm, (line) => (moduleOf(file) === 'generated' ? '' : line));
  const found = text.matchAll(/(?:\bfrom\s*|\bimport\s*\(?\s*)['"](#[^'"]+|\.{1,2}\/[^'"]+)['"]/g);
  return [...found].map(([, target]) =>
    target!.startsWith('#') ? target!.slice(1) : path.relative(SRC, path.resolve(SRC, path.dirname(file), target!)),
  );
}

const importEdges = files.flatMap((file) =>
  imports(file).map((target) => ({ file, from: moduleOf(file), to: moduleOf(target), target })),
);

it('finds imports, and a row for each module', () => {
  expect(importEdges.length).toBeGreaterThan(100);
  expect([...ROWS.keys()].sort()).toEqual([...new Set(files.map(moduleOf))].sort());
});

it('imports only what the table allows', () => {
  const violations = importEdges.filter(
    ({ from, to }) => from !== to && !SHARED.includes(to) && !ROWS.get(from)!.imports.includes(to),
  );
  expect(violations.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('imports a feature module through its index.ts', () => {
  const violations = importEdges.filter(
    ({ from, to, target }) => from !== to && FEATURES.includes(to) && target !== `${to}/index.ts`,
  );
  expect(violations.map(({ file, target }) => `${file} imports ${target}`)).toEqual([]);
});

it('marks each import of another module with #', () => {
  const relative = files.flatMap((file) => {
    const found = textOf(file).matchAll(/from\s*['"](\.{1,2}\/[^'"]+)['"]/g);
    return [...found].flatMap(([, target]) => {
      const to = moduleOf(path.relative(SRC, path.resolve(SRC, path.dirname(file), target!)));
      // The client's types are also compiled outside of this package, where # imports cannot be resolved.
      return to === moduleOf(file) || (moduleOf(file) === 'client' && to === 'generated')
        ? []
        : [`${file} imports ${target}`];
    });
  });
  expect(relative).toEqual([]);
});

it('starts every process with the shared environment', () => {
  const starters = files.filter((file) => /from 'node:child_process'|\bchromium\.launch\(/.test(textOf(file)));
  const launches = starters.filter((file) => /\b(?:spawn|fork|execFile|launch)\b/.test(textOf(file)));
  expect(launches.length).toBeGreaterThan(5);
  // The operator's own executors inherit the operator's environment variables (flow/process/environment.ts).
  const shared = /\b(?:childEnvironment|executorEnvironment|operatorEnvironment)\(/;
  expect(launches.filter((file) => !shared.test(textOf(file)))).toEqual([]);
});

it('keeps the client free of other modules, because it also runs in browsers', () => {
  const imported = files
    .filter((file) => moduleOf(file) === 'client')
    .flatMap((file) => {
      const text = readFileSync(path.join(SRC, file), 'utf8');
      return [...text.matchAll(/\b(?:from|import)\s*\(?\s*['"]([^'"]+)['"]/g)].map(([, target]) => target!);
    });
  expect(imported.length).toBeGreaterThan(10);
  expect(imported.filter((target) => !/^\.\/|^\.\.\/generated\//.test(target))).toEqual([]);
});

/**
 * These files connect to sockets in our own folders, belong to processes that are started with such a socket, connect
 * to browsers that the operator configured, or only open ports.
 */
const OWN_SOCKETS = [
  'app/in-process.ts',
  'flow/process/host.ts',
  'http/open-server.ts',
  'reader/engines/browser/remote/devtools-connection.ts',
  'storage/process-folder.ts',
].map(path.normalize);

it('lets only net/ connect to a URL that a caller chose', () => {
  // Type imports cannot open connections.
  const dialers =
    /^import (?!type )[^;]*from ['"](?:undici|node:net|node:tls|node:https|impit|proxy-chain)['"]|(?<![\w.])fetch\(['"`]http/m;
  const violations = files.filter((file) => {
    const module = moduleOf(file);
    return module !== 'net' && !OWN_SOCKETS.includes(file) && dialers.test(readFileSync(path.join(SRC, file), 'utf8'));
  });
  expect(violations).toEqual([]);
});

it('looks up keys of text tables through ownValue(), because objects inherit names like constructor', () => {
  const violations = files.flatMap((file) => {
    const text = readFileSync(path.join(SRC, file), 'utf8');
    const tables = [...text.matchAll(/^(?:export )?const ([A-Z][A-Z\d_]*): (?:Readonly<|Partial<)*Record<string,/gm)];
    return tables.flatMap(([, table]) => {
      // With `!`, the key is known to exist. In `TABLE.key` and `TABLE['key']`, the key is a constant in our code.
      const bare = new RegExp(
        `(?<![\\w.])${table}(?:\\?\\.)?\\[(?!['"])[^\\]]*\\](?!!| =)|\\]: [^}=]*\\} = ${table}\\b`,
        'g',
      );
      return [...text.matchAll(bare)].map(([found]) => `${file}: ${found}`);
    });
  });
  expect(violations).toEqual([]);
});
