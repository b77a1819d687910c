import { createHash } from 'node:crypto';
import * as z from 'zod';
import type { Target } from '#client/index.ts';
import { ToolError } from '../failures.ts';
import {
  COMMON_OPTIONS,
  displayName,
  excerptContent,
  furtherOptionsBrief,
  normalizeUrl,
  pageOption,
  readOptions,
  readText,
} from '../reading.ts';
import { defineTool, maxTokens, type ToolCall } from '../tool.ts';
import { offset } from './read-url.ts';

const SOURCES = ['url', 'base64', 'path'] as const;

const input = {
  url: z.string().optional(),
  base64: z.string().optional(),
  name: z.string().max(255).optional().describe('File name for `base64`; its extension gives the type.'),
  max_tokens: maxTokens(),
  offset: offset(),
  page: pageOption,
  respondWith: COMMON_OPTIONS.respondWith,
  timeout: COMMON_OPTIONS.timeout,
  options: furtherOptionsBrief,
};

const shared = {
  name: 'read_document',
  title: 'Read a document',
  openWorld: true,
  steps: () => 1,
} as const;

const READS = 'Reads a PDF, Office, OpenDocument, EPUB, HTML or text file or an image and returns Markdown';

/** The tool for remote callers, which cannot read local files. */
export const readDocument = defineTool({
  ...shared,
  description: `${READS}. Give \`url\` or \`base64\`.`,
  input: z.strictObject(input),
  progressMessage: ({ url, name }) => `Reading ${url ?? name ?? 'a document'}`,
  run: (args, call) => read(args, call),
});

/** The tool for a client on this machine. It also reads local files in the allowed folders. */
export const readDocumentWithFiles = (folders: readonly string[]) =>
  defineTool({
    ...shared,
    description: `${READS}. Give \`url\`, \`base64\` or \`path\`.`,
    input: z.strictObject({
      ...input,
      path: z
        .string()
        .min(1)
        .optional()
        .describe(`Path of a local file within ${folders.join(', ')}.`),
    }),
    progressMessage: ({ url, name, path }) => `Reading ${url ?? path ?? name ?? 'a document'}`,
    run: (args, call) => read(args, call),
  });

interface Given {
  readonly url?: string | undefined;
  readonly base64?: string | undefined;
  readonly path?: string | undefined;
  readonly name?: string | undefined;
  readonly max_tokens: number;
  readonly offset: number;
  readonly [option: string]: unknown;
}

async function read({ url, base64, path, name, max_tokens: tokens, offset, ...given }: Given, call: ToolCall) {
  const named = [url, base64, path].filter((value) => value !== undefined).length;
  if (named !== 1) {
    const allowed = SOURCES.filter((source) => source !== 'path' || call.files);
    throw new ToolError(`Give exactly one of ${allowed.join(', ')}; got ${named}.`);
  }
  const { target, source } = await loadTarget({ url, base64, path, name }, call);
  const text = await readText(call, target, readOptions(given), { name: source, offset });
  return { content: await excerptContent(text, displayName(source), { offset, tokens }) };
}

/** Returns the target and a unique name for it. */
async function loadTarget(
  { url, base64, path, name }: Pick<Given, 'url' | 'base64' | 'path' | 'name'>,
  call: ToolCall,
) {
  if (url !== undefined) {
    const normalized = normalizeUrl(url, 'url');
    return { target: normalized, source: normalized };
  }
  const file = base64 !== undefined ? { name, bytes: decoded(base64) } : await call.files!.read(path!, call.signal);
  const hash = createHash('sha256').update(file.bytes).digest('hex');
  const target: Target = { file: file.bytes, name: file.name };
  return { target, source: `${file.name ?? 'document'}#${hash}` };
}

function decoded(text: string): Uint8Array {
  const body = text.replace(/^data:[^,]{0,200};base64,/, '').replace(/\s+/g, '');
  if (body === '' || !/^[A-Za-z0-9+/_-]+={0,2}$/.test(body)) throw new ToolError('base64: not valid base64.');
  return Buffer.from(body, 'base64');
}
