/**
 * The plain-text response: header lines, content, summaries (docs/reference/wire/reader.md, Text answers). Clients
 * split on these lines, so every byte counts.
 */
import { oneLine } from './markdown/one-line.ts';

export interface TextPage {
  readonly title: string;
  readonly url: string;
  readonly content?: string | undefined;
  readonly publishedTime?: string | undefined;
  /** Lines joined by newlines. */
  readonly warning?: string | undefined;
  readonly numPages?: number | undefined;
  /** If present, the response consists only of the chunks. */
  readonly chunks?: readonly string[] | undefined;
}

/** Separates chunks. The conversion removes U+001D from text, so no page contains it. */
export const CHUNK_SEPARATOR = '\n\n\u001d';

/**
 * The page as text, ending in a newline; `summaries` lists images before links. For pages with `chunks`, the text
 * consists only of the chunks, joined by `CHUNK_SEPARATOR`.
 */
export function textLayout(page: TextPage, summaries: readonly string[] = []): string {
  if (page.chunks) return page.chunks.join(CHUNK_SEPARATOR);
  let text = `Title: ${oneLine(page.title)}\n\nURL Source: ${page.url}\n`;
  const facts: string[] = [];
  if (page.publishedTime) facts.push(`Published Time: ${oneLine(page.publishedTime)}`);
  if (page.warning) facts.push(page.warning.replace(/^/gm, 'Warning: '));
  if (page.numPages !== undefined) facts.push(`Number of Pages: ${page.numPages}`);
  if (facts.length > 0) text += `\n${facts.join('\n\n')}\n`;
  text += `\nMarkdown Content:\n${page.content ?? ''}\n`;
  if (summaries.length > 0) text += `\n${summaries.join('\n\n')}\n`;
  return text;
}
