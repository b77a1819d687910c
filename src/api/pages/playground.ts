/**
 * The playground: a page on the reader's host that asks every face as a person's program would. Its files are built
 * (scripts/build-playground.mjs); what it shows of options, and where the faces are, it asks for in one JSON.
 */
import { readdir, readFile } from 'node:fs/promises';
import type { FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import type { Face } from '#http/server.ts';
import { EMBED_FIELDS, RERANK_FIELDS } from '#models/index.ts';
import { own } from '#own.ts';
import { OPTIONS, PRESET_OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import { type FieldTable, formOf, modelFormOf, OCR_FORM } from './playground-form.ts';
import type { PlaygroundSetup } from './playground-types.ts';

export const PLAYGROUND_PATHS = ['/playground', '/playground/'] as const;

export interface PlaygroundOptions {
  readonly version: string;
  /** Where the faces listen on this machine; 0 for one that has no port. */
  readonly ports: () => Readonly<Record<'reader' | 'search' | 'model', number>>;
  /** The address of the reader as callers see it; that of the request when unset. */
  readonly publicUrl?: string | undefined;
  readonly searchNeedsKey: boolean;
  readonly modelsNeedKey: boolean;
}

/** From src/api and from dist/api alike. */
const FOLDER = new URL('../../dist/playground/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
const HTML = 'index.html';

/** There `engine` in a header is the one that reads pages, and `count` another name of `num`. */
const { count: _, ...searchOptions } = ALL_OPTIONS;
const SEARCH_TABLE = { ...searchOptions, engine: OPTIONS.engine } as FieldTable;

export function playgroundRoutes(face: Face, deps: PlaygroundOptions): void {
  let reading: Promise<ReadonlyMap<string, string>> | undefined;
  const built = () => {
    reading ??= readBuilt();
    return reading;
  };
  const forms = {
    read: formOf(OPTIONS as FieldTable),
    search: formOf(SEARCH_TABLE),
    embed: modelFormOf(EMBED_FIELDS, ['model', 'input']),
    rerank: modelFormOf(RERANK_FIELDS, ['model', 'query', 'documents']),
    ocr: OCR_FORM,
  };
  const keyNeeded = { reader: false, search: deps.searchNeedsKey, models: deps.modelsNeedKey };

  face.get('/playground', async (request, reply) => {
    const html = (await built()).get(HTML);
    if (!html) throw problem('RouteNotFoundError', { message: 'The playground is not built: npm run build makes it' });
    return reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', policyFor(facesOf(request, deps)))
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-opener-policy', 'same-origin')
      .send(html);
  });
  face.get<{ Params: { name: string } }>('/playground/:name', async (request, reply) => {
    const { name } = request.params;
    if (name === 'setup.json') {
      const faces = facesOf(request, deps);
      const setup: PlaygroundSetup = { version: deps.version, faces, keyNeeded, forms, presets: PRESET_OPTIONS };
      return reply
        .type('application/json; charset=utf-8')
        .header('cache-control', 'no-cache')
        .send(JSON.stringify(setup));
    }
    const file = name === HTML ? undefined : (await built()).get(name);
    if (!file) throw problem('RouteNotFoundError', { message: 'The playground has no such file' });
    // Their names change with their content.
    return reply
      .type(own(TYPES, name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream')
      .header('cache-control', 'public, max-age=31536000, immutable')
      .send(file);
  });
}

/** Name to text; empty when nothing was built. */
async function readBuilt(): Promise<ReadonlyMap<string, string>> {
  const names = await readdir(FOLDER).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return [];
    throw error;
  });
  const read = names.map(async (name) => [name, await readFile(new URL(name, FOLDER), 'utf8')] as const);
  return new Map(await Promise.all(read));
}

type Faces = PlaygroundSetup['faces'];

const policyFor = ({ search, models }: Faces): string =>
  [
    "default-src 'none'",
    "script-src 'self'",
    "worker-src 'self'",
    "style-src 'self'",
    "img-src 'self' data: blob:",
    ["connect-src 'self'", search, models].filter(Boolean).join(' '),
    // Foreign documents are written into a frame; nothing is ever loaded into one.
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** A host that may stand in a header of ours. */
const PLAIN_HOST = /^(?:[a-z\d.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * Where the caller's browser finds the faces. Of names by the rule of one port for all faces (`r.` beside `s.` and
 * `api.`); of ports by those that are open here, or beside the one that a container's port was mapped to.
 */
function facesOf(request: FastifyRequest, { publicUrl, ports }: PlaygroundOptions): Faces {
  const asked = request.headers.host ?? '';
  const host = PLAIN_HOST.test(asked) ? asked : 'localhost';
  const reader = new URL(publicUrl ?? `${request.protocol}://${host}`);
  const base = { reader: reader.origin };
  const open = ports();
  const arrivedAt = request.raw.socket.localPort;
  if (reader.hostname.startsWith('r.') && (publicUrl !== undefined || arrivedAt !== open.reader)) {
    return { ...base, search: beside(reader, 's.'), models: beside(reader, 'api.') };
  }
  if (reader.protocol !== 'http:' || reader.port === '') return { ...base, search: null, models: null };
  const port = Number(reader.port);
  if (port === open.reader || arrivedAt !== open.reader) {
    return { ...base, search: withPort(reader, open.search), models: withPort(reader, open.model) };
  }
  return { ...base, search: withPort(reader, port + 1), models: withPort(reader, port + 2) };
}

const beside = (reader: URL, label: string): string =>
  new URL(`${reader.protocol}//${reader.host.replace(/^r\./, label)}`).origin;

const withPort = ({ protocol, hostname }: URL, port: number): string | null =>
  port > 0 && port < 65_536 ? `${protocol}//${hostname}:${port}` : null;
