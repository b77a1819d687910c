/**
 * Serves the playground: a web page on the reader's host that sends requests to all APIs. Its files are built by
 * scripts/build-playground.mjs. It loads the options and the URLs of the APIs as JSON.
 */
import { readdir, readFile } from 'node:fs/promises';
import type { FastifyRequest } from 'fastify';
import { problem } from '#errors.ts';
import { createTags, sendTagged } from '#http/etag.ts';
import type { Face } from '#http/server.ts';
import { EMBED_FIELDS, RERANK_FIELDS } from '#models/index.ts';
import { ownValue } from '#own-value.ts';
import { OPTIONS, PRESET_OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import { type FieldTable, formOf, modelFormOf, OCR_FORM } from './playground-form.ts';
import type { PlaygroundSetup } from './playground-types.ts';

export const PLAYGROUND_PATHS = ['/playground', '/playground/'] as const;

export interface PlaygroundOptions {
  readonly version: string;
  /** The ports of the APIs; 0 for an API without a port. */
  readonly ports: () => Readonly<Record<'reader' | 'search' | 'model', number>>;
  /** The URL of the reader as callers see it. Default: the host of each request. */
  readonly publicUrl?: string | undefined;
  readonly searchNeedsKey: boolean;
  readonly modelsNeedKey: boolean;
}

/** The path is the same from src/api and from dist/api. */
const FOLDER = new URL('../../../dist/playground/', import.meta.url);
const TYPES: Readonly<Record<string, string>> = {
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
};
const HTML = 'index.html';

/**
 * The search options, except `count`, which is an alias of `num`. As a header, `engine` selects the reader's engine.
 */
const { count: _, ...searchOptions } = ALL_OPTIONS;
const SEARCH_TABLE = { ...searchOptions, engine: OPTIONS.engine } as FieldTable;

export function playgroundRoutes(face: Face, deps: PlaygroundOptions): void {
  let reading: Promise<ReadonlyMap<string, string>> | undefined;
  const tagOf = createTags();
  const builtFiles = () => {
    reading ??= readBuilt();
    return reading;
  };
  // The forms are generated when they are first requested, because loading the schemas would slow down every start.
  let forms: PlaygroundSetup['forms'] | undefined;
  const keyNeeded = { reader: false, search: deps.searchNeedsKey, models: deps.modelsNeedKey };

  face.get('/playground', async (request, reply) => {
    const html = (await builtFiles()).get(HTML);
    if (!html) throw problem('RouteNotFoundError', { message: 'The playground is not built: run npm run build' });
    reply
      .type('text/html; charset=utf-8')
      .header('cache-control', 'no-cache')
      .header('content-security-policy', policyFor(facesOf(request, deps)))
      .header('referrer-policy', 'no-referrer')
      .header('cross-origin-opener-policy', 'same-origin');
    return sendTagged(request, reply, html, tagOf(HTML, html));
  });
  face.get<{ Params: { name: string } }>('/playground/:name', async (request, reply) => {
    const { name } = request.params;
    if (name === 'setup.json') {
      const faces = facesOf(request, deps);
      forms ??= makeForms();
      const setup: PlaygroundSetup = { version: deps.version, faces, keyNeeded, forms, presets: PRESET_OPTIONS };
      reply.type('application/json; charset=utf-8').header('cache-control', 'no-cache');
      return sendTagged(request, reply, JSON.stringify(setup));
    }
    const file = name === HTML ? undefined : (await builtFiles()).get(name);
    if (!file) throw problem('RouteNotFoundError', { message: `The playground has no file ${name}` });
    // Immutable, as the names contain a digest of the content.
    reply
      .type(ownValue(TYPES, name.slice(name.lastIndexOf('.') + 1)) ?? 'application/octet-stream')
      .header('cache-control', 'public, max-age=31536000, immutable');
    return sendTagged(request, reply, file, tagOf(name, file));
  });
}

const makeForms = (): PlaygroundSetup['forms'] => ({
  read: formOf(OPTIONS as FieldTable),
  search: formOf(SEARCH_TABLE),
  embed: modelFormOf(EMBED_FIELDS, ['model', 'input']),
  rerank: modelFormOf(RERANK_FIELDS, ['model', 'query', 'documents']),
  ocr: OCR_FORM,
});

/** The built files by name; empty if none were built. */
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
    // Fetched HTML is written into a sandboxed frame. No frame ever loads a URL.
    "frame-src 'none'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');

/** A Host header that is safe to repeat in a response header. */
const PLAIN_HOST = /^(?:[a-z\d.-]+|\[[\da-f:.]+\])(?::\d{1,5})?$/i;

/**
 * The URLs of the APIs as the caller's browser reaches them. If all APIs share one port: `r.`, `s.` and `api.`. With
 * separate ports: those ports, or the two ports after the reader's port if a container maps it to another one.
 */
function facesOf(request: FastifyRequest, { publicUrl, ports }: PlaygroundOptions): Faces {
  const given = request.headers.host ?? '';
  const host = PLAIN_HOST.test(given) ? given : 'localhost';
  const reader = new URL(publicUrl ?? `${request.protocol}://${host}`);
  const base = { reader: reader.origin };
  const open = ports();
  const localPort = request.raw.socket.localPort;
  if (reader.hostname.startsWith('r.') && (publicUrl !== undefined || localPort !== open.reader)) {
    return { ...base, search: siblingOf(reader, 's.'), models: siblingOf(reader, 'api.') };
  }
  if (reader.protocol !== 'http:' || reader.port === '') return { ...base, search: null, models: null };
  const port = Number(reader.port);
  if (port === open.reader || localPort !== open.reader) {
    return { ...base, search: withPort(reader, open.search), models: withPort(reader, open.model) };
  }
  return { ...base, search: withPort(reader, port + 1), models: withPort(reader, port + 2) };
}

const siblingOf = (reader: URL, label: string): string =>
  new URL(`${reader.protocol}//${reader.host.replace(/^r\./, label)}`).origin;

const withPort = ({ protocol, hostname }: URL, port: number): string | null =>
  port > 0 && port < 65_536 ? `${protocol}//${hostname}:${port}` : null;
