/** Generates the documentation for language models: an index (llmstxt.org) and all pages in one file. */
import { markdownUrl } from './layout.ts';
import type { SitePage } from './pages.ts';

const INTRO = `# Lectern

> A server that turns web pages and files into input for language models and retrieval systems: a reader (page or file to
> Markdown), a search host (query to results with content), a model host (embeddings, reranking, document OCR, batch jobs)
> and a flow gateway. It runs on one machine. Its APIs are compatible with those that many programs already use, so that
> only the base URL changes.
`;

export function llmsIndex(pages: readonly SitePage[]): string {
  const sections = [...new Set(pages.map(({ section }) => section))].map((section) => {
    const lines = pages
      .filter((page) => page.section === section)
      .map((page) => `- [${page.title}](${markdownUrl(page)}): ${firstSentence(page.summary)}`);
    return `## ${section}\n\n${lines.join('\n')}\n`;
  });
  return [INTRO, ...sections].join('\n');
}

export const llmsFull = (pages: readonly SitePage[]): string =>
  [INTRO, ...pages.map((page) => `<!-- ${markdownUrl(page)} -->\n\n${page.markdown.trim()}\n`)].join('\n');

const firstSentence = (text: string): string => /^.{20,}?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
