/** Code shared by the reading tools: options, the text form of a page, and excerpts of long texts. */
import * as z from 'zod';
import type { Page, ReadOptions, Target } from '#client/index.ts';
import { describe } from '#http/openapi.ts';
import { isUrl } from '#is-url.ts';
import { countTokens, loadTokens, OPTIONS } from '#reader/index.ts';
import { takeExcerpt } from './budget.ts';
import { ToolError } from './failures.ts';
import type { ToolCall } from './tool.ts';
import { markUntrusted, withoutMarks } from './untrusted-marks.ts';

type OptionName = keyof typeof OPTIONS;

/** Resource that describes every option. */
export const OPTIONS_URI = 'lectern://options';

/** A reader option as tool argument, described from the options table. */
const option = <Schema extends z.ZodType>(name: OptionName, schema: Schema) =>
  schema.optional().describe(describe(OPTIONS[name]));

/** Reader options that are tool arguments, in the simplest form for a model; all others go into `options`. */
export const COMMON_OPTIONS = {
  respondWith: z
    .enum(['content', 'markdown', 'text', 'html', 'frontmatter'])
    .optional()
    .describe(
      '`content`: main content as Markdown. `markdown`: whole page as Markdown. `html`: the HTML document. `text`: plain text. `frontmatter`: Markdown after YAML metadata. Default: content.',
    ),
  targetSelector: option('targetSelector', z.string()),
  removeSelector: option('removeSelector', z.string()),
  waitForSelector: option('waitForSelector', z.string()),
  engine: z
    .enum(['auto', 'browser', 'direct'])
    .optional()
    .describe(
      '`browser` renders the page. `direct` fetches it without running scripts. `auto` fetches first and renders if scripts change the content. Default: auto.',
    ),
  timeout: option('timeout', z.number()),
  retainLinks: option('retainLinks', z.enum(['all', 'none', 'text'])),
  retainImages: option('retainImages', z.enum(['all', 'none', 'alt'])),
  withLinksSummary: option('withLinksSummary', z.boolean()),
  locale: option('locale', z.string()),
  noCache: option('noCache', z.boolean()),
} satisfies Partial<Record<OptionName, z.ZodType>>;

export const pageOption = option('page', z.int().min(1));

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

const FURTHER_OPTIONS = (Object.keys(OPTIONS) as OptionName[]).filter(
  (name) => !EXCLUDED_OPTIONS.some((other) => other === name) && !(name in COMMON_OPTIONS),
);

const further = () => z.record(z.string(), z.unknown()).optional();

export const furtherOptions = further().describe(
  `Further reader options by name: ${FURTHER_OPTIONS.join(', ')}. The resource ${OPTIONS_URI} describes each.`,
);
/** Refers to read_url instead of repeating its list of options. */
export const furtherOptionsBrief = further().describe('Further reader options by name, as in read_url.');

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
}

/** Reads a target. With an offset, reuses the text if it was read recently. */
export async function readText(
  call: ToolCall,
  target: Target,
  options: ReadOptions,
  { name, offset }: { readonly name: string; readonly offset: number },
): Promise<PageText> {
  const reading = JSON.stringify([name, options]);
  const remembered = offset > 0 ? call.recent.find(reading) : undefined;
  if (remembered) return remembered;
  const { page } = await call.client.read(target, options, { signal: call.signal });
  const text = formatPage(page);
  if (!mustNotBeStored(options)) call.recent.put({ text, url: name, reading });
  return { text };
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

/** Tokens reserved for the text after a fenced excerpt: its position, and how to request the rest. */
const OVERHEAD_TOKENS = 80;

/** Counts the tokens around an excerpt from a source. Call `loadTokens` first. */
export const fenceTokens = (source: string): number => countTokens(markUntrusted('', source)) + OVERHEAD_TOKENS;

/** Formats one fenced excerpt of a text, and adds instructions for requesting the next one. */
export async function formatExcerpt(
  { text }: PageText,
  source: string,
  { offset, tokens }: { readonly offset: number; readonly tokens: number },
): Promise<string> {
  if (offset > 0 && offset >= text.length) {
    throw new ToolError(`offset: ${offset} is beyond the end; the text has ${text.length} characters.`);
  }
  await loadTokens();
  const piece = await takeExcerpt(text, offset, Math.max(1, tokens - fenceTokens(source)));
  const { start, end } = piece;
  if (start === 0 && end === text.length) return markUntrusted(piece.text, source);
  const where = `Characters ${start} to ${end} of ${text.length}.`;
  const rest =
    end < text.length
      ? `${where} For the rest, call again with the same arguments and \`offset\`: ${end}.`
      : `${where} This is the end.`;
  return `${markUntrusted(piece.text, source)}\n${rest}`;
}

/** Matches URLs without a scheme, such as `example.com/page`. */
const SCHEMELESS_URL = /^[\w.-]+(?::\d+)?(?:[/?#]|$)/;

/** Normalizes a URL; adds `https://` if the scheme is missing. Throws a ToolError that names the argument. */
export function normalizeUrl(given: string, argument: string): string {
  const text = SCHEMELESS_URL.test(given.trim()) ? `https://${given.trim()}` : given.trim();
  const url = isUrl(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.href;
  throw new ToolError(`${argument}: ${JSON.stringify(given.slice(0, 200))} is not an http or https URL.`);
}
