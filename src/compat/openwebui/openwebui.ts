/** The external loader, search and document loader of Open WebUI. */

import * as z from 'zod';
import { Problem, problem } from '#errors.ts';
import { Upload } from '#http/body.ts';
import type { CompatCall, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { numberText, readFields } from '../fields.ts';
import { readAll } from '../read-all.ts';

const STATUSES: StatusTable = { ParamValidationError: 422, SecurityCompromiseError: 422 };
const MAX_URLS = 100;
/** Time limit of a page, in seconds. */
const PAGE_S = 20;
const SEARCH_S = 8;

const LOADER_FIELDS = z.object({
  urls: z
    .array(z.string())
    .refine((list) => list.length > 0 && list.length <= MAX_URLS, `must have 1 to ${MAX_URLS} entries`)
    .meta({ description: 'The URLs to read.' }),
});
const SEARCH_FIELDS = z.object({
  query: z.string().meta({ description: '`q` of the search host.' }),
  count: numberText().pipe(z.number().int().min(1)).default(5).meta({ description: '`num`, at most 20.' }),
});

/** A failed URL is left out if others succeed, because its error would be stored as knowledge. */
async function load(call: CompatCall): Promise<unknown> {
  const { urls } = readFields(LOADER_FIELDS, call.body);
  let failure: Problem | undefined;
  const pages = await readAll(urls, async (url) => {
    try {
      const { page } = await call.native.read(call, { url, timeout: PAGE_S });
      if (page.blocked) throw problem('BlockedPageError');
      const { title, description, metadata } = page;
      return {
        page_content: page.content ?? '',
        metadata: simple({ source: url, title, description, language: metadata?.lang }),
      };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      failure = error;
      return undefined;
    }
  });
  const loaded = pages.filter((page) => page !== undefined);
  if (loaded.length === 0 && failure) throw failure;
  return sendJson(call.reply, loaded);
}

/** Open WebUI stores metadata in a vector database, which takes only texts, numbers and booleans. */
const simple = (fields: Readonly<Record<string, string | number | undefined>>) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''));

async function search(call: CompatCall): Promise<unknown> {
  const { query, count } = readFields(SEARCH_FIELDS, call.body);
  const given = { q: query, num: Math.min(count, 20), respondWith: 'no-content', timeout: SEARCH_S };
  const { results } = await call.native.search(call, given);
  return sendJson(
    call.reply,
    results.map(({ url, title, description }) => ({ link: url, title, snippet: description ?? '' })),
  );
}

const NO_TEXT = 'No extractable text';

async function processFile(call: CompatCall): Promise<unknown> {
  const bytes = call.body instanceof Uint8Array ? call.body : new Uint8Array();
  if (bytes.length === 0) throw problem('ParamValidationError', { path: 'body', message: 'The file is empty' });
  const upload = new Upload(bytes.buffer as ArrayBuffer, bytes.byteOffset, bytes.byteLength);
  upload.filename = nameOf(call.request.headers['x-filename']);
  upload.mediaType = call.request.headers['content-type']?.split(';', 1)[0];
  const { page } = await call.native.read(call, { file: upload });
  if (!page.content?.trim()) throw problem('SubmittedDataMalformedError', { message: NO_TEXT });
  const metadata = simple({
    source: upload.filename,
    title: page.title,
    total_pages: page.numPages,
    'Content-Type': upload.mediaType,
  });
  return sendJson(call.reply, { page_content: page.content, metadata });
}

/** The name is percent-encoded. A path keeps only its last segment. */
function nameOf(header: string | string[] | undefined): string | undefined {
  const text = [header].flat()[0];
  if (!text) return undefined;
  try {
    return decodeURIComponent(text).split(/[\\/]/).at(-1);
  } catch {
    return text.split(/[\\/]/).at(-1);
  }
}

export const openwebui: Dialect = {
  name: 'openwebui',
  title: 'Open WebUI',
  keyPlaces: ['bearer'],
  writeError: (failure, _, reply) => sendJson(reply.code(statusOf(failure, STATUSES)), { detail: failure.message }),
  routes: [
    {
      method: 'POST',
      url: '/openwebui/loader',
      access: 'read',
      summary: 'Reads URLs for the external web loader.',
      fields: LOADER_FIELDS,
      handler: load,
    },
    ...['/openwebui/search', '/search'].map((url) => ({
      method: 'POST' as const,
      url,
      access: 'search' as const,
      summary: 'Answers the external web search with links.',
      fields: SEARCH_FIELDS,
      handler: search,
    })),
    {
      method: 'PUT',
      url: '/process',
      access: 'read',
      bodyAs: 'bytes',
      summary: 'Converts a file for the external document loader.',
      handler: processFile,
    },
  ],
};
