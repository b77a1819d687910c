/** MCP resources: recently read pages, any page by its URL, and the description of all options. */
import { type McpServer, ResourceTemplate, type ServerContext } from '@modelcontextprotocol/server';
import { describe } from '#http/openapi.ts';
import { OPTIONS } from '#reader/index.ts';
import { signalOf } from './caller.ts';
import { describeFailure, ToolError, UNEXPECTED_FAILURE } from './failures.ts';
import { withProgress } from './progress.ts';
import { formatExcerpt, normalizeUrl, OPTIONS_URI, readText } from './reading.ts';
import type { McpServerOptions } from './server.ts';

const PAGE = 'lectern://page/';
/** Larger than the default of the tools, because a person who picks a page wants most of it. */
const PAGE_TOKENS = 25_000;

export const pageUri = (url: string): string => PAGE + encodeURIComponent(url);

export function addResources(
  server: McpServer,
  { resolveCaller, onError }: Pick<McpServerOptions, 'resolveCaller' | 'onError'>,
): void {
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
      const { client, recent } = await resolveCaller(context);
      const signal = signalOf(context);
      try {
        const target = normalizeUrl(decoded(uri.href.slice(PAGE.length)), 'url');
        const text = await withProgress(context, 1, `Reading ${target}`, (progress) =>
          readText({ client, recent, signal, progress, files: undefined }, target, {}, { name: target, offset: 0 }),
        );
        const fenced = await formatExcerpt(text, target, { offset: 0, tokens: PAGE_TOKENS });
        return { contents: [{ uri: uri.href, mimeType: 'text/markdown', text: fenced }] };
      } catch (error) {
        if (signal.aborted) throw error;
        const words = describeFailure(error);
        if (words === undefined) onError(error);
        throw new Error(words ?? UNEXPECTED_FAILURE);
      }
    },
  );
  server.registerResource(
    'options',
    OPTIONS_URI,
    {
      title: 'Reader options',
      description: 'Describes each option that the reading tools accept in `options`.',
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

const optionsText = (): string =>
  Object.entries(OPTIONS)
    .map(([name, row]) => `- \`${name}\`: ${describe(row)}`)
    .join('\n');
