/** A result as it is answered: what the search said of it, and what its page said once it was read (contract, section 4). */
import type { Options, Page, Rendition } from '#reader/index.ts';
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
  /** `indexed`: a file, of which there is what the index holds. */
  readonly state: 'unasked' | 'waiting' | 'read' | 'indexed' | 'failed' | 'late';
  readonly rendition?: Rendition | undefined;
  /** Why the page could not be read. */
  readonly failure?: string | undefined;
  /** The passages chosen of it. */
  readonly passages?: readonly (Pick<Passage, 'text' | 'heading'> & { readonly tokens: number })[] | undefined;
  readonly favicon?: string | undefined;
}

/** Says of pages that should have been read why there is nothing of them. */
function warningOf({ state, failure }: Entry): string | undefined {
  if (state === 'late') return 'This page was not read in time.';
  if (state !== 'failed') return undefined;
  return failure ? `This page could not be read: ${failure}` : 'This page could not be read.';
}

/** Contract, section 6.9: what a page costs without factors and least charges. */
const PICTURE_TOKENS = 765;

const HIT_KEYS = ['imageUrl', 'imageWidth', 'imageHeight', 'source', 'date', 'siteLinks'] as const;
const PAGE_KEYS = [
  'targetStatus',
  'chunks',
  'publishedTime',
  'html',
  'text',
  'screenshotUrl',
  'pageshotUrl',
  'images',
  'links',
  'numPages',
  'warning',
  'metadata',
  'external',
  'explanation',
] as const;
/** What is still said of a page of which only passages are answered. */
const PASSAGE_PAGE_KEYS = ['targetStatus', 'publishedTime', 'warning', 'metadata'] as const;

/** The keys in the contract's order, unset ones absent. `tokens` is what the result is charged. */
export function resultOf(entry: Entry, tokens: number, pictures: Pick<Page, 'screenshotUrl' | 'pageshotUrl'>): Result {
  const { hit, rendition, state, passages, favicon } = entry;
  const page = rendition && { ...rendition.page, ...pictures };
  const warning = warningOf(entry);
  return {
    title: page?.title || hit.title,
    url: hit.url,
    description: page?.description || hit.description,
    ...pick(hit, HIT_KEYS),
    content: joined(passages ?? (state === 'indexed' ? hit.passages : undefined)) ?? page?.content ?? '',
    ...(passages && { passages: passages.map((passage) => shown(passage)) }),
    ...(page && pick(page, passages ? PASSAGE_PAGE_KEYS : PAGE_KEYS)),
    ...(warning && { warning }),
    ...(favicon !== undefined && { favicon }),
    usage: { tokens },
  };
}

/** What stands between passages of one page. */
const GAP = '\n\n…\n\n';

const joined = (passages: readonly { readonly text: string }[] | undefined) =>
  passages?.map(({ text }) => text).join(GAP);

const shown = ({ text, heading, tokens }: NonNullable<Entry['passages']>[number]) => ({
  text,
  ...(heading && { heading }),
  tokens,
});

/** These keys in this order, as far as they are set. */
const pick = <T extends object, Key extends keyof T>(from: T, keys: readonly Key[]): Partial<Pick<T, Key>> =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]]))) as Partial<
    Pick<T, Key>
  >;

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
