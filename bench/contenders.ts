/** Programs that extract the content of a page as Markdown: Lectern and its competitors. */
import { createRequire } from 'node:module';
import { extractFromHtml } from '@extractus/article-extractor';
import { Readability } from '@mozilla/readability';
import { Defuddle } from 'defuddle/node';
import { parseHTML } from 'linkedom';
import { parseDocument } from '#html/parse.ts';
import { documentBaseUrl } from '#reader/extract/content/links.ts';
import { extractArticle } from '#reader/extract/extract.ts';
import { removeInvisibleParts } from '#reader/extract/visibility/invisible-parts.ts';
import { asMarkdown } from './as-markdown.ts';
import { namesOf, packageBaseline } from './report.ts';

export interface Contender {
  name: string;
  read(html: string, url: string): string | Promise<string>;
}

export const OURS: Contender = {
  name: 'lectern',
  read(html, url) {
    const document = parseDocument(html);
    const baseUrl = documentBaseUrl(document, url);
    const invisibleParts = removeInvisibleParts(document, { allowsLastResort: true });
    return asMarkdown(extractArticle(document, { url, baseUrl, whole: false, invisibleParts }).content, url, baseUrl);
  },
};

// Both packages ship without types.
const require = createRequire(import.meta.url);
const TurndownService = require('turndown') as new (
  options: Record<string, string>,
) => { turndown(html: string): string };
const { JSDOM, VirtualConsole } = require('jsdom') as {
  JSDOM: new (html: string, options: object) => { window: { document: object; close(): void } };
  VirtualConsole: new () => object;
};

const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });

type ReadabilityDocument = ConstructorParameters<typeof Readability>[0];

function byReadability(document: unknown): string {
  const article = new Readability(document as ReadabilityDocument).parse();
  return article?.content ? turndown.turndown(article.content) : '';
}

/** The baseline for speed. */
export const BASELINE: Contender = {
  name: 'readability + linkedom + turndown',
  read: (html) => byReadability(parseHTML(html).document),
};

/** The other competitors. */
export const COMPETITORS: readonly Contender[] = [
  {
    name: 'readability + jsdom + turndown',
    read(html, url) {
      // A console without listeners, because jsdom reports each style sheet that it cannot parse.
      const { window } = new JSDOM(html, { url, virtualConsole: new VirtualConsole() });
      try {
        return byReadability(window.document);
      } finally {
        window.close();
      }
    },
  },
  {
    name: 'defuddle + linkedom',
    async read(html, url) {
      // `useAsync` would call network services for pages without content.
      const options = { markdown: true, useAsync: false };
      const document = parseHTML(html).document as unknown as Parameters<typeof Defuddle>[0];
      return (await Defuddle(document, url, options)).content;
    },
  },
  {
    name: 'article-extractor + turndown',
    async read(html, url) {
      const content = (await extractFromHtml(html, url))?.content;
      return content ? turndown.turndown(content) : '';
    },
  },
];

/** The packages of the competitors. */
export const COMPARED_PACKAGES = [
  '@mozilla/readability',
  'linkedom',
  'jsdom',
  'turndown',
  'defuddle',
  '@extractus/article-extractor',
];

/** The installed packages with their versions. */
export const packageVersions = (): string[] => COMPARED_PACKAGES.map((name) => namesOf([packageBaseline(name)]));
