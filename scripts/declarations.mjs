// Removes the type declarations in dist/ that no entry point of the package needs. The compiler writes one for each
// module, of which the client and the executors of flows, which others import, refer to few.
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const IMPORT = /(?:\bfrom\s*|\bimport\s*\(\s*|\bimport\s+)['"](#[^'"]+|\.{1,2}\/[^'"]+)['"]/g;

/** Returns the declaration files that the entry points refer to, relative to `dist`. */
function reachable(dist, entries) {
  const found = new Set();
  const waiting = [...entries];
  while (waiting.length > 0) {
    const file = waiting.pop();
    if (found.has(file)) continue;
    found.add(file);
    for (const [, target] of readFileSync(path.join(dist, file), 'utf8').matchAll(IMPORT)) {
      const place = target.startsWith('#') ? target.slice(1) : path.join(path.dirname(file), target);
      waiting.push(path.normalize(place.replace(/\.[tj]s$/, '.d.ts')));
    }
  }
  return found;
}

const dist = path.join(root, 'dist');
const { exports } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const entries = Object.values(exports).flatMap(({ types }) => (types ? [path.relative('dist', types)] : []));
const needed = reachable(dist, entries);
for (const file of readdirSync(dist, { recursive: true })) {
  if (file.endsWith('.d.ts') && !needed.has(file)) rmSync(path.join(dist, file));
}
