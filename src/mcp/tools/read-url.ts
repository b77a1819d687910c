import * as z from 'zod';
import {
  COMMON_OPTIONS,
  excerptContent,
  furtherOptions,
  normalizeUrl,
  pageOption,
  readOptions,
  readText,
} from '../reading.ts';
import { defineTool, maxTokens } from '../tool.ts';

export const offset = () =>
  z.int().min(0).default(0).describe('Where to continue, as named by the previous response; keep the other arguments.');

export const readUrl = defineTool({
  name: 'read_url',
  title: 'Read a web page',
  description: 'Reads a web page, PDF, Office file or image at a URL and returns Markdown. Long texts come in parts.',
  input: z.strictObject({
    url: z.string().min(1),
    max_tokens: maxTokens(),
    offset: offset(),
    ...COMMON_OPTIONS,
    page: pageOption,
    options: furtherOptions,
  }),
  openWorld: true,
  steps: () => 1,
  progressMessage: ({ url }) => `Reading ${url}`,
  async run({ url, max_tokens: tokens, offset, ...given }, call) {
    const target = normalizeUrl(url, 'url');
    const text = await readText(call, target, readOptions(given), { name: target, offset });
    return { content: await excerptContent(text, target, { offset, tokens }) };
  },
});
