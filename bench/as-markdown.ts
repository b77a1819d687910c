/** Extracted content as the Markdown that the benchmarks score: with all links and images, without front matter. */
import type { Document, Element } from '#html/node.ts';
import { MARKDOWN_STYLE_DEFAULTS } from '#reader/markdown/style.ts';
import { toMarkdown } from '#reader/markdown/to-markdown.ts';

export const asMarkdown = (content: Document | Element, pageUrl: string, baseUrl = pageUrl): string =>
  toMarkdown(content, {
    ...MARKDOWN_STYLE_DEFAULTS,
    pageUrl,
    baseUrl,
    gfm: 'all',
    retainLinks: 'all',
    retainImages: 'all',
    keepImgDataUrl: false,
  }).markdown;
