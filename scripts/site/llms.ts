/** The documentation for language models: an index (llmstxt.org), and all pages in one file. */
import { markdownAddress } from './layout.ts';
import type { SitePage } from './pages.ts';

const INTRO = `# Lectern

> A server that turns the web and people's files into input for language models and retrieval systems: a reader (a page
> or file in, Markdown out), a search host (a query in, result pages out, read), a model host (embeddings, reranking,
> document OCR, batch jobs) and a flow gateway. It runs on one machine, and its interfaces are those that many programs
> speak already: they change a base URL and nothing else.
`;

export function llmsIndex(pages: readonly SitePage[]): string {
  const sections = [...new Set(pages.map(({ section }) => section))].map((section) => {
    const lines = pages
      .filter((page) => page.section === section)
      .map((page) => `- [${page.title}](${markdownAddress(page)}): ${firstSentence(page.summary)}`);
    return `## ${section}\n\n${lines.join('\n')}\n`;
  });
  return [INTRO, ...sections].join('\n');
}

export const llmsFull = (pages: readonly SitePage[]): string =>
  [INTRO, ...pages.map((page) => `<!-- ${markdownAddress(page)} -->\n\n${page.markdown.trim()}\n`)].join('\n');

const firstSentence = (text: string): string => /^.{20,}?[.:](?=\s|$)/.exec(text)?.[0].replace(/:$/, '.') ?? text;
