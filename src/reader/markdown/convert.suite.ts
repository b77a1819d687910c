/** Converts HTML as it is, for tests of the Markdown. */
import type { Document, Element } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { MARKDOWN_STYLE_DEFAULTS } from './style.ts';
import { type MarkdownOptions, toMarkdown } from './to-markdown.ts';

/** All links and images, in the default style. */
export const testOptions = (pageUrl: string): MarkdownOptions => ({
  ...MARKDOWN_STYLE_DEFAULTS,
  pageUrl,
  baseUrl: pageUrl,
  gfm: 'all',
  retainLinks: 'all',
  retainImages: 'all',
  keepImgDataUrl: false,
});

const PAGE_URL = 'https://kilns.example/';

/** The Markdown of a tree, or of HTML. */
export function markdownOf(source: string | Document | Element, options: Partial<MarkdownOptions> = {}): string {
  const root = typeof source === 'string' ? parseDocument(source) : source;
  return toMarkdown(root, { ...testOptions(PAGE_URL), ...options }).markdown;
}
