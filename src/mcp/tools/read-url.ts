import * as z from 'zod';
import {
  COMMON_OPTIONS,
  formatExcerpt,
  furtherOptions,
  normalizeUrl,
  pageOption,
  readOptions,
  readText,
} from '../reading.ts';
import { defineTool, maxTokens, textResult } from '../tool.ts';

export const offset = () =>
  z
    .int()
    .min(0)
    .default(0)
    .describe('Where to continue in a long text: the number named by the previous response. Keep the other arguments.');

export const readUrl = defineTool({
  name: 'read_url',
  title: 'Read a web page',
  description:
    'Reads one web page, PDF, Office file or image at a URL and returns its content as Markdown. Long texts come in parts. For several URLs use read_urls.',
  input: z.strictObject({
    url: z.string().min(1).describe('URL to read, http or https.'),
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
    return textResult(await formatExcerpt(text, target, { offset, tokens }));
  },
});
