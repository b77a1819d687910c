/** The pages of the documentation site, in the order of the navigation. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { parse as parseYaml } from 'yaml';
import { renderMarkdown, type SearchEntry } from './render.ts';

export const BASE = '/docs/';
const NAVIGATION = 'docs/navigation.yml';

export interface Heading {
  readonly id: string;
  readonly text: string;
  readonly level: number;
}

export interface SitePage {
  /** Path below BASE, without extension; empty for the first page. */
  readonly slug: string;
  readonly section: string;
  readonly title: string;
  /** The first sentence of the page's text. */
  readonly summary: string;
  readonly markdown: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly entries: readonly SearchEntry[];
}

export interface Navigation {
  readonly section: string;
  /** Paths from the root of the project. */
  readonly pages: readonly string[];
}

export const readNavigation = (root: string): Navigation[] =>
  parseYaml(readFileSync(path.join(root, NAVIGATION), 'utf8')) as Navigation[];

/** Returns `guide/reading` for `docs/guide/reading.md`, and `project/<name>` for files outside docs/. */
export function pageSlug(file: string): string {
  const bare = file.replace(/\.md$/, '');
  if (bare === 'docs/index' || bare === 'README') return '';
  if (bare.startsWith('docs/')) return bare.slice('docs/'.length);
  return `project/${bare.replace(/\/README$/, '').toLowerCase()}`;
}

/** Renders all pages in navigation order. Throws for a link to a missing file. */
export function sitePages(root: string): SitePage[] {
  const navigation = readNavigation(root);
  const files = new Set(['README.md', ...navigation.flatMap(({ pages }) => pages)]);
  return navigation.flatMap(({ section, pages }) =>
    pages.map((file) => {
      const markdown = readFileSync(path.join(root, file), 'utf8');
      const rendered = renderMarkdown(markdown, (target) => {
        const found = path.posix.join(path.posix.dirname(file), target);
        if (files.has(found)) return BASE + pageSlug(found);
        if (existsSync(path.join(root, found))) return undefined;
        throw new Error(`${file} links to ${target}, which does not exist`);
      });
      return { slug: pageSlug(file), section, markdown, ...rendered };
    }),
  );
}
