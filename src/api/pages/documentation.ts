/** Serves the documentation on the reader's host: the built site (scripts/site), and llms.txt for language models. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { problem } from '#errors.ts';
import { createTags, sendTagged } from '#http/etag.ts';
import type { Face } from '#http/server.ts';
import { ownValue } from '#own-value.ts';

export const DOCUMENTATION_PATHS = ['/docs', '/docs/', '/llms.txt', '/llms-full.txt'] as const;

/** The path is the same from src/api and from dist/api. */
const FOLDER = fileURLToPath(new URL('../../../dist/docs/', import.meta.url));

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.md': 'text/markdown; charset=utf-8',
  '.txt': 'text/plain; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
};
/** Names that contain a digest of the content. */
const DIGESTED = /\.[\da-f]{16}\.(?:js|css)$/;
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

export function documentationRoutes(face: Face): void {
  let reading: Promise<ReadonlyMap<string, string>> | undefined;
  const tagOf = createTags();
  const find = async (name: string) => {
    reading ??= readBuilt();
    const files = await reading;
    const found = [name, `${name}.html`].find((candidate) => files.has(candidate));
    if (found === undefined) {
      const message = files.size ? `There is no page ${name}` : 'The documentation is not built: run npm run build';
      throw problem('RouteNotFoundError', { message });
    }
    return { name: found, text: files.get(found)! };
  };
  const routes: [url: string, nameOf: (rest: string) => string][] = [
    ['/docs', () => 'index'],
    ['/docs/*', (rest) => rest.replace(/\/$/, '') || 'index'],
    ['/llms.txt', () => 'llms.txt'],
    ['/llms-full.txt', () => 'llms-full.txt'],
  ];
  for (const [url, nameOf] of routes) {
    face.get<{ Params: { '*'?: string } }>(url, async (request, reply) => {
      const { name, text } = await find(nameOf(request.params['*'] ?? ''));
      reply
        .type(ownValue(TYPES, path.extname(name)) ?? 'application/octet-stream')
        .header('cache-control', DIGESTED.test(name) ? 'public, max-age=31536000, immutable' : 'no-cache')
        .header('content-security-policy', POLICY)
        .header('x-content-type-options', 'nosniff');
      return sendTagged(request, reply, text, tagOf(name, text));
    });
  }
}

/** The built files by name; empty if none were built. Requested names are looked up here, never in the file system. */
async function readBuilt(): Promise<ReadonlyMap<string, string>> {
  const entries = await readdir(FOLDER, { recursive: true, withFileTypes: true }).catch(
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    },
  );
  const read = entries
    .filter((entry) => entry.isFile())
    .map(async ({ parentPath, name }) => {
      const file = path.join(parentPath, name);
      return [path.relative(FOLDER, file).replaceAll(path.sep, '/'), await readFile(file, 'utf8')] as const;
    });
  return new Map(await Promise.all(read));
}
