/**
 * A result of the API. It has the fields of the hit and, once its page has been read, those of the page
 * (docs/reference/wire/search.md, Results).
 */
import type { Options, Page, PlacedBlock, ReadDetails, Rendition } from '#reader/index.ts';
import type { Hit, Passage } from './hit.ts';

export interface Result extends Partial<Omit<Page, 'usage' | 'title' | 'url' | 'description' | 'content'>> {
  title: string;
  url: string;
  description: string;
  source?: string;
  date?: string;
  attribution?: string;
  imageUrl?: string;
  imageWidth?: number;
  imageHeight?: number;
  siteLinks?: Hit['siteLinks'];
  /** Markdown; empty if the page was not read. */
  content: string;
  /** Set if passages were requested. */
  passages?: { text: string; heading?: string; tokens: number; page?: number; box?: PassageBox }[];
  favicon?: string;
  usage: { tokens: number };
}

/** A result for a caller inside this server. */
export interface DetailedResult extends Result {
  /** Set if requested. */
  details?: ReadDetails;
}

/** A passage that was selected; in a document, with its place. */
export interface ShownPassage extends Pick<Passage, 'text' | 'heading'> {
  readonly tokens: number;
  readonly page?: number | undefined;
  readonly box?: PassageBox | undefined;
}

type PassageBox = NonNullable<PlacedBlock['box']>;

/** A hit and the state of its page. */
export interface Entry {
  readonly hit: Hit;
  /** `indexed`: a file whose content comes from the local index. */
  readonly state: 'unasked' | 'waiting' | 'read' | 'indexed' | 'failed' | 'late';
  readonly rendition?: Rendition | undefined;
  /** Why the page could not be read; `undefined` if the reason is not shown. */
  readonly failure?: string | undefined;
  /** The selected passages. */
  readonly passages?: readonly ShownPassage[] | undefined;
  readonly favicon?: string | undefined;
}

/** Explains why a page has no content although it should have been read. */
function warningOf({ state, failure }: Entry): string | undefined {
  if (state === 'late') return 'This page was not read in time.';
  if (state !== 'failed') return undefined;
  return failure ? `This page could not be read: ${failure}` : 'This page could not be read.';
}

/** Number of tokens for a screenshot (docs/reference/wire/reader.md, Tokens and charge). */
const SCREENSHOT_TOKENS = 765;

const HIT_KEYS = ['imageUrl', 'imageWidth', 'imageHeight', 'source', 'date', 'siteLinks', 'attribution'] as const;
const PAGE_KEYS = [
  'targetStatus',
  'blocked',
  'chunks',
  'chunkPages',
  'publishedTime',
  'html',
  'text',
  'screenshotUrl',
  'pageshotUrl',
  'images',
  'links',
  'numPages',
  'pages',
  'warning',
  'metadata',
  'external',
  'explanation',
] as const;
/** Fields of a page that are included even if only passages are returned. */
const PASSAGE_PAGE_KEYS = ['targetStatus', 'blocked', 'publishedTime', 'warning', 'metadata'] as const;

/** Keys are in the order of the API; unset keys are omitted. `tokens` is the charge for the result. */
export function resultOf(
  entry: Entry,
  tokens: number,
  pictures: Pick<Page, 'screenshotUrl' | 'pageshotUrl'>,
): DetailedResult {
  const { hit, rendition, state, passages, favicon } = entry;
  const page = rendition && { ...rendition.page, ...pictures };
  const warning = warningOf(entry);
  return {
    title: page?.title || hit.title,
    url: hit.url,
    description: page?.description || hit.description,
    ...pick(hit, HIT_KEYS),
    content: joinPassages(passages ?? (state === 'indexed' ? hit.passages : undefined)) ?? page?.content ?? '',
    ...(passages && { passages: passages.map((passage) => showPassage(passage)) }),
    ...(page && pick(page, passages ? PASSAGE_PAGE_KEYS : PAGE_KEYS)),
    ...(warning && { warning }),
    ...(favicon !== undefined && { favicon }),
    ...(rendition?.details && { details: rendition.details }),
    usage: { tokens },
  };
}

/** Separates the passages of a page. */
const GAP = '\n\n…\n\n';

const joinPassages = (passages: readonly { readonly text: string }[] | undefined) =>
  passages?.map(({ text }) => text).join(GAP);

const showPassage = ({ text, heading, tokens, page, box }: ShownPassage) => ({
  text,
  ...(heading && { heading }),
  tokens,
  ...(page !== undefined && { page }),
  ...(box && { box }),
});

/** Copies the keys that are set, in this order. */
const pick = <T extends object, Key extends keyof T>(from: T, keys: readonly Key[]): Partial<Pick<T, Key>> =>
  Object.fromEntries(keys.flatMap((key) => (from[key] === undefined ? [] : [[key, from[key]]]))) as Partial<
    Pick<T, Key>
  >;

/** Number of tokens for a page: the reader's charge without its factors and minimum. */
export function pageTokens(
  { rendition, passages }: Entry,
  { modelFormat, proxy, injectPageScript, injectFrameScript, engine, retainImages }: Options,
  count: (text: string) => number,
): number {
  if (passages) return passages.reduce((sum, { tokens }) => sum + tokens, 0);
  // A page that is not the content is free (docs/reference/wire/reader.md, Blocked pages).
  if (!rendition || rendition.page.blocked) return 0;
  const isPlain =
    !modelFormat &&
    proxy === 'none' &&
    injectPageScript.length + injectFrameScript.length === 0 &&
    engine !== 'cf-browser-rendering' &&
    !retainImages.endsWith('_p');
  if (isPlain) return rendition.tokens;
  const { content, description, text = '', html = '' } = rendition.page;
  const shot = rendition.screenshot || rendition.pageshot ? SCREENSHOT_TOKENS : 0;
  return count(content || description) + count(text) + count(html) + shot;
}
