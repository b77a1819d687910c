/** MCP resources: recently read pages, any page by its URL, and the description of all options. */
import {
  type McpServer,
  type ReadResourceResult,
  ResourceTemplate,
  type ServerContext,
} from '@modelcontextprotocol/server';
import { signalOf } from './caller.ts';
import { describeFailure, ToolError, UNEXPECTED_FAILURE } from './failures.ts';
import { optionsText } from './options.ts';
import { withProgress } from './progress.ts';
import { displayName, formatExcerpt, normalizeUrl, OPTIONS_URI, type PageText, readText } from './reading.ts';
import { parseRestUri, REST_TEMPLATE, restUri } from './rest.ts';
import type { McpServerOptions } from './server.ts';

const PAGE = 'lectern://page/';
/** Larger than the default of the tools, because a person who picks a page wants most of it. */
const PAGE_TOKENS = 25_000;

export const pageUri = (url: string): string => PAGE + encodeURIComponent(url);

export function addResources(
  server: McpServer,
  { resolveCaller, onError }: Pick<McpServerOptions, 'resolveCaller' | 'onError'>,
): void {
  /** Answers with the failures that a caller can act on, as tools do. */
  async function answer(signal: AbortSignal, read: () => Promise<ReadResourceResult>): Promise<ReadResourceResult> {
    try {
      return await read();
    } catch (error) {
      if (signal.aborted) throw error;
      const words = describeFailure(error);
      if (words === undefined) onError(error);
      throw new Error(words ?? UNEXPECTED_FAILURE);
    }
  }
  const list = async (context: ServerContext) => ({
    resources: (await resolveCaller(context)).recent
      .list()
      // Uploaded files have no URL from which they could be read again.
      .filter(({ url }) => /^https?:/.test(url))
      .map(({ url }) => ({ uri: pageUri(url), name: url, mimeType: 'text/markdown' })),
  });
  const template = new ResourceTemplate(`${PAGE}{url}`, { list });
  server.registerResource(
    'page',
    template,
    {
      title: 'A web page',
      description: 'A page as Markdown, by its percent-encoded URL. Recently read pages are listed.',
      mimeType: 'text/markdown',
    },
    async (uri, _, context) => {
      const signal = signalOf(context);
      return answer(signal, async () => {
        const { client, recent } = await resolveCaller(context);
        const target = normalizeUrl(decoded(uri.href.slice(PAGE.length)), 'url');
        const page = await withProgress(context, 1, `Reading ${target}`, (progress) =>
          readText({ client, recent, signal, progress, files: undefined }, target, {}, { name: target, offset: 0 }),
        );
        return contents(uri, page, target, 0);
      });
    },
  );
  server.registerResource(
    'rest',
    new ResourceTemplate(REST_TEMPLATE, { list: undefined }),
    {
      title: 'The rest of a long page',
      description: 'Linked by the reading tools; available to the same caller while the page is stored.',
      mimeType: 'text/markdown',
    },
    (uri, _, context) =>
      answer(signalOf(context), async () => {
        const named = parseRestUri(uri.href);
        const page = named && (await resolveCaller(context)).recent.find(named.reading);
        if (!page)
          throw new ToolError('This text is no longer stored, or was read by another caller. Read the page again.');
        return contents(uri, page, displayName(page.url), named.offset);
      }),
  );
  server.registerResource(
    'options',
    OPTIONS_URI,
    {
      title: 'Reader options',
      description: 'Describes every option that the tools accept, including those that the tool list omits.',
      mimeType: 'text/markdown',
    },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/markdown', text: optionsText() }] }),
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ToolError('url: not a valid percent-encoded URL.');
  }
}

async function contents(uri: URL, page: PageText, source: string, offset: number): Promise<ReadResourceResult> {
  const { text, next } = await formatExcerpt(page, source, { offset, tokens: PAGE_TOKENS });
  const rest = next !== undefined && page.reading ? ` The rest: ${restUri(page.reading, next)}` : '';
  return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text: text + rest }] };
}
