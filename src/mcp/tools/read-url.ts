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
    .describe('Where to go on in a long text: the number that the answer before named. Other arguments as before.');

export const readUrl = defineTool({
  name: 'read_url',
  title: 'Read a web page',
  description:
    'Reads one web page, PDF, Office file or picture at an address and answers its content as Markdown. Long texts come in pieces. For several addresses use read_urls.',
  input: z.strictObject({
    url: z.string().min(1).describe('The http or https address to read.'),
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
    const address = normalizeUrl(url, 'url');
    const text = await readText(call, address, readOptions(given), { name: address, offset });
    return textResult(await formatExcerpt(text, address, { offset, tokens }));
  },
});
