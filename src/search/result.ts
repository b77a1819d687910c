/** A result as it is answered: what the search said of it, and what its page said once it was read (contract, section 4). */
import { type Options, orderedPage, type Page, type Rendition } from '#reader/index.ts';
import type { Hit, Passage } from './hit.ts';

export interface Result extends Partial<Omit<Page, 'usage' | 'title' | 'url' | 'description' | 'content'>> {
  title: string;
  url: string;
  description: string;
  source?: string;
  date?: string;
  imageUrl?: string;
  imageWidth?: number;
  imageHeight?: number;
  siteLinks?: Hit['siteLinks'];
  /** Markdown; empty for a page that was not read. */
  content: string;
  /** When passages were asked for. */
  passages?: { text: string; heading?: string; tokens: number }[];
  favicon?: string;
  usage: { tokens: number };
}

/** A hit and what became of its page. */
export interface Entry {
  readonly hit: Hit;
  readonly state: 'unasked' | 'waiting' | 'read' | 'failed' | 'late';
  readonly rendition?: Rendition | undefined;
  /** The passages chosen of it. */
  readonly passages?: readonly (Pick<Passage, 'text' | 'heading'> & { readonly tokens: number })[] | undefined;
  readonly favicon?: string | undefined;
}

/** Says of pages that should have been read why there is nothing of them. */
const WARNINGS: Readonly<Partial<Record<Entry['state'], string>>> = {
  failed: 'This page could not be read.',
  late: 'This page was not read in time.',
};

/** Contract, section 6.9: what a page costs without factors and least charges. */
const PICTURE_TOKENS = 765;

/** The keys in the contract's order, unset ones absent. `ownTokens` is what reading the page costs. */
export function resultOf(
  entry: Entry,
  ownTokens: number,
  pictures: Pick<Page, 'screenshotUrl' | 'pageshotUrl'>,
): Result {
  const { hit, rendition, state, passages, favicon } = entry;
  const page = rendition?.page;
  const {
    title,
    description,
    url,
    content = '',
    usage: _,
    ...said
  } = page ? orderedPage({ ...page, ...pictures }) : EMPTY;
  const warning = WARNINGS[state];
  const result = {
    title: title || hit.title,
    url: hit.url,
    description: description || hit.description,
    imageUrl: hit.imageUrl,
    imageWidth: hit.imageWidth,
    imageHeight: hit.imageHeight,
    source: hit.source,
    date: hit.date,
    siteLinks: hit.siteLinks,
    content: passages ? passages.map(({ text }) => text).join('\n\n…\n\n') : content,
    passages: passages?.map(({ text, heading, tokens }) => ({ text, ...(heading && { heading }), tokens })),
    ...(passages ? { publishedTime: said.publishedTime, metadata: said.metadata } : said),
    ...(warning && { warning }),
    favicon,
    usage: { tokens: ownTokens },
  };
  return Object.fromEntries(Object.entries(result).filter(([, value]) => value !== undefined)) as unknown as Result;
}

const EMPTY: Page = { title: '', description: '', url: '', usage: { tokens: 0 } };

/** Whether a result is what was asked for (contract, section 5). */
export const isQualified = ({ rendition }: Entry): boolean => {
  if (!rendition) return false;
  const { title, content, text, html } = rendition.page;
  return Boolean((title && content) || text || html || rendition.screenshot || rendition.pageshot);
};

/** What reading a page costs: the reader's charge without its factors and its least. */
export function pageTokens(
  { rendition, passages }: Entry,
  { modelFormat, proxy, injectPageScript, injectFrameScript, engine, retainImages }: Options,
  count: (text: string) => number,
): number {
  if (passages) return passages.reduce((sum, { tokens }) => sum + tokens, 0);
  if (!rendition) return 0;
  const isPlain =
    !modelFormat &&
    proxy === 'none' &&
    injectPageScript.length + injectFrameScript.length === 0 &&
    engine !== 'cf-browser-rendering' &&
    !retainImages.endsWith('_p');
  if (isPlain) return rendition.tokens;
  const { content, description, text = '', html = '' } = rendition.page;
  const shot = rendition.screenshot || rendition.pageshot ? PICTURE_TOKENS : 0;
  return count(content || description) + count(text) + count(html) + shot;
}
