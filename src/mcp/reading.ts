/** Code shared by the reading tools: options, the text form of a page, and excerpts of long texts. */
import { createHash } from 'node:crypto';
import type { CallToolResult, TextContent } from '@modelcontextprotocol/server';
import * as z from 'zod';
import type { Page, ReadOptions, Target } from '#client/index.ts';
import { isUrl } from '#is-url.ts';
import { countTokens, loadTokens, OPTIONS } from '#reader/index.ts';
import { takeExcerpt } from './budget.ts';
import { ToolError } from './failures.ts';
import { restUri } from './rest.ts';
import { unlisted } from './schema.ts';
import type { ToolCall } from './tool.ts';
import { fenceWithoutMarks, MAX_MARKS_TOKENS, markUntrusted, shortSource, withoutMarks } from './untrusted-marks.ts';

type OptionName = keyof typeof OPTIONS;

/** Resource that describes every option. */
export const OPTIONS_URI = 'lectern://options';

/** A reader option that is a tool argument too, but is described only in the resource. */
const rare = <Schema extends z.ZodType>(schema: Schema) => unlisted(schema.optional());

/** Reader options that are tool arguments, in the simplest form for a model; all others go into `options`. */
export const COMMON_OPTIONS = {
  respondWith: z
    .enum(['content', 'markdown', 'text', 'html', 'frontmatter'])
    .optional()
    .describe('`content` (default): main content as Markdown; `markdown`: whole page; `frontmatter`: with metadata.'),
  engine: z
    .enum(['auto', 'browser', 'direct'])
    .optional()
    .describe('`browser` runs scripts, `direct` does not, `auto` (default) decides.'),
  targetSelector: rare(z.string()),
  removeSelector: rare(z.string()),
  waitForSelector: rare(z.string()),
  timeout: rare(z.number()),
  retainLinks: rare(z.enum(['all', 'none', 'text'])),
  retainImages: rare(z.enum(['all', 'none', 'alt'])),
  withLinksSummary: rare(z.boolean()),
  locale: rare(z.string()),
  noCache: rare(z.boolean()),
} satisfies Partial<Record<OptionName, z.ZodType>>;

export const pageOption = z.int().min(1).optional().describe('Page of a document, from 1.');

/** Options that name the target, and options with results that this text form cannot show. */
const EXCLUDED_OPTIONS = [
  'url',
  'html',
  'file',
  'pdf',
  'explain',
  'trace',
  'exportStorageState',
] as const satisfies OptionName[];

export const FURTHER_OPTIONS = (Object.keys(OPTIONS) as OptionName[]).filter(
  (name) => !EXCLUDED_OPTIONS.some((other) => other === name) && !(name in COMMON_OPTIONS),
);

const further = () => z.record(z.string(), z.unknown()).optional();

export const furtherOptions = further().describe(
  `More options by name, listed in the resource ${OPTIONS_URI}: targetSelector, removeSelector, waitForSelector, timeout (s), locale, retainLinks, noCache, filePassword, ...`,
);
/** Refers to read_url instead of repeating its examples. */
export const furtherOptionsBrief = further().describe('As in read_url.');

interface GivenOptions {
  readonly options?: Record<string, unknown> | undefined;
  readonly [name: string]: unknown;
}

const PICTURES = /screenshot|pageshot/;

/** Returns the options of a read. Throws a ToolError for an unknown option. */
export function readOptions({ options = {}, ...own }: GivenOptions): ReadOptions {
  for (const name of Object.keys(options)) {
    if (FURTHER_OPTIONS.some((known) => known === name) || name in COMMON_OPTIONS) continue;
    throw new ToolError(`options.${name}: unknown option. Available: ${FURTHER_OPTIONS.join(', ')}.`);
  }
  if (PICTURES.test(String(options.respondWith ?? ''))) {
    throw new ToolError('options.respondWith: to take a picture of a page, call the tool `screenshot`.');
  }
  const named = Object.entries(own).filter(
    ([name, value]) => value !== undefined && (name in COMMON_OPTIONS || name === 'page'),
  );
  return { ...options, ...Object.fromEntries(named) };
}

/** Whether an option forbids storing the text. */
const mustNotBeStored = (options: ReadOptions): boolean =>
  Object.entries(options).some(([name, value]) => {
    const { caching } = OPTIONS[name as OptionName] as { caching?: string };
    return Boolean(value) && (caching === 'neither' || caching === 'not written');
  });

export interface PageText {
  readonly text: string;
  /** Key of the read among the caller's recent pages; `undefined` if the text is not stored. */
  readonly reading?: string | undefined;
}

/** The name of what was read, without the hash that distinguishes files of one name. */
export const displayName = (source: string): string => source.replace(/#[\da-f]{64}$/, '');

/** Key of a read: equal for the same target and options, and short enough for a URI. */
const readingOf = (name: string, options: ReadOptions): string =>
  createHash('sha256')
    .update(JSON.stringify([name, options]))
    .digest('base64url')
    .slice(0, READING_CHARACTERS);

const READING_CHARACTERS = 22;

/** Reads a target. With an offset, reuses the text if it was read recently. */
export async function readText(
  call: ToolCall,
  target: Target,
  options: ReadOptions,
  { name, offset }: { readonly name: string; readonly offset: number },
): Promise<PageText> {
  const reading = readingOf(name, options);
  const remembered = offset > 0 ? call.recent.find(reading) : undefined;
  if (remembered) return remembered;
  const { page } = await call.client.read(target, options, { signal: call.signal });
  const text = formatPage(page);
  if (!mustNotBeStored(options)) call.recent.put({ text, url: name, reading });
  // Callers that cannot be distinguished, and texts above the limits, have nothing stored.
  return { text, reading: call.recent.find(reading)?.reading };
}

/** Formats a page as text. Title and links are untrusted too, so they are part of the fenced text. */
export function formatPage(page: Page): string {
  const head = [
    page.title && `Title: ${page.title}`,
    // The URL of an uploaded file starts with `blob:` and contains the file's hash.
    !page.url.startsWith('blob:') && `URL: ${page.url}`,
    page.targetStatus !== undefined && page.targetStatus !== 200 && `Status: ${page.targetStatus}`,
    page.publishedTime && `Published: ${page.publishedTime}`,
    page.numPages && `Pages: ${page.numPages}`,
    page.warning && `Warning: ${page.warning}`,
  ].filter(Boolean);
  const body = [page.content ?? page.chunks?.join('\n\n'), page.text, page.html].filter(Boolean);
  const lists = [formatList('Links', page.links), formatList('Images', page.images)].filter(Boolean);
  // Removes marks before tokens are counted, so that the counted text is the shown text.
  return withoutMarks([head.join('\n'), ...body, ...lists].join('\n\n'));
}

function formatList(name: string, list: Page['links'] | Page['images']): string {
  const pairs = Array.isArray(list) ? list : Object.entries(list ?? {});
  return pairs.length ? `${name}:\n${pairs.map(([text, address]) => `- [${text}](${address})`).join('\n')}` : '';
}

/** Tokens reserved for what follows a fenced excerpt: its position, and how to request the rest. */
const OVERHEAD_TOKENS = 140;

/**
 * The most tokens around an excerpt from a source. Independent of the random marks: they have different numbers of tokens,
 * and a share computed with one mark would cut a text that is fenced with another. Call `loadTokens` first.
 */
export const fenceTokens = (source: string): number =>
  countTokens(fenceWithoutMarks(source)) + MAX_MARKS_TOKENS + OVERHEAD_TOKENS;

export interface FormattedExcerpt {
  /** The fenced excerpt, and its position in a longer text. */
  readonly text: string;
  /** Offset of the next excerpt; `undefined` at the end. */
  readonly next: number | undefined;
}

/** Formats one fenced excerpt of a text. */
export async function formatExcerpt(
  { text }: PageText,
  source: string,
  { offset, tokens }: { readonly offset: number; readonly tokens: number },
): Promise<FormattedExcerpt> {
  if (offset > 0 && offset >= text.length) {
    throw new ToolError(`offset: ${offset} is beyond the end; the text has ${text.length} characters.`);
  }
  await loadTokens();
  const piece = await takeExcerpt(text, offset, Math.max(1, tokens - fenceTokens(source)));
  const { start, end } = piece;
  const fenced = markUntrusted(piece.text, source);
  if (start === 0 && end === text.length) return { text: fenced, next: undefined };
  const where = `Characters ${start} to ${end} of ${text.length}.`;
  return end < text.length
    ? { text: `${fenced}\n${where}`, next: end }
    : { text: `${fenced}\n${where} This is the end.`, next: undefined };
}

/**
 * The content blocks of one excerpt: its text with instructions for requesting the next one, and a link to the rest if
 * it is stored.
 */
export async function excerptContent(
  page: PageText,
  source: string,
  range: { readonly offset: number; readonly tokens: number },
): Promise<[TextContent, ...CallToolResult['content']]> {
  const { text, next } = await formatExcerpt(page, source, range);
  if (next === undefined) return [{ type: 'text', text }];
  const advice = `For the rest, call again with the same arguments and \`offset\`: ${next}.`;
  const link = page.reading && {
    type: 'resource_link' as const,
    uri: restUri(page.reading, next),
    // The URL may be longer than the whole excerpt.
    name: `rest of ${shortSource(source).slice(0, MAX_NAME_CHARACTERS)}`,
    mimeType: 'text/markdown',
  };
  return [{ type: 'text', text: `${text} ${advice}` }, ...(link ? [link] : [])];
}

const MAX_NAME_CHARACTERS = 60;

/** Matches URLs without a scheme, such as `example.com/page`. */
const SCHEMELESS_URL = /^[\w.-]+(?::\d+)?(?:[/?#]|$)/;

/** Normalizes a URL; adds `https://` if the scheme is missing. Throws a ToolError that names the argument. */
export function normalizeUrl(given: string, argument: string): string {
  const text = SCHEMELESS_URL.test(given.trim()) ? `https://${given.trim()}` : given.trim();
  const url = isUrl(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.href;
  throw new ToolError(`${argument}: ${JSON.stringify(given.slice(0, 200))} is not an http or https URL.`);
}
