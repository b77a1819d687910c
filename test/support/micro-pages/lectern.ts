/** Reads a page as the server does: extraction and Markdown. */
import { parseDocument } from '#html/parse.ts';
import { extractArticle } from '#reader/extract/extract.ts';
import { asMarkdown } from '../../../bench/as-markdown.ts';

export function readWithLectern(html: string, url: string): string {
  const { content } = extractArticle(parseDocument(html), { url, baseUrl: url, whole: false });
  return asMarkdown(content, url);
}
