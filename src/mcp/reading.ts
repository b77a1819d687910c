/** What the reading tools share: which options they take, how a page is laid out, and how it is given piece by piece. */
import * as z from 'zod';
import type { Page, ReadOptions, Target } from '#client/index.ts';
import { describe } from '#http/openapi.ts';
import { countTokens, loadTokens, OPTIONS } from '#reader/index.ts';
import { takeExcerpt } from './budget.ts';
import { ToolError } from './failures.ts';
import { fence, withoutMarks } from './fence.ts';
import type { ToolCall } from './tool.ts';

type OptionName = keyof typeof OPTIONS;

/** The resource that tells what each option means. */
export const OPTIONS_URI = 'lectern://options';

/** An option of the reader under its own name, with its meaning from the table. */
const option = <Schema extends z.ZodType>(name: OptionName, schema: Schema) =>
  schema.optional().describe(describe(OPTIONS[name]));

/** Those that a model has a use for, in the form that is easiest to fill in; the others go by `options`. */
export const COMMON_OPTIONS = {
  respondWith: z
    .enum(['content', 'markdown', 'text', 'html', 'frontmatter'])
    .optional()
    .describe(
      '`content` is the main content as Markdown, `markdown` the whole page, `html` the document, `text` its text, `frontmatter` Markdown under YAML metadata. Default: content.',
    ),
  targetSelector: option('targetSelector', z.string()),
  removeSelector: option('removeSelector', z.string()),
  waitForSelector: option('waitForSelector', z.string()),
  engine: z
    .enum(['auto', 'browser', 'direct'])
    .optional()
    .describe(
      '`browser` renders the page, `direct` fetches it without scripts, `auto` fetches first and renders when scripts would change what there is to read. Default: auto.',
    ),
  timeout: option('timeout', z.number()),
  retainLinks: option('retainLinks', z.enum(['all', 'none', 'text'])),
  retainImages: option('retainImages', z.enum(['all', 'none', 'alt'])),
  withLinksSummary: option('withLinksSummary', z.boolean()),
  locale: option('locale', z.string()),
  noCache: option('noCache', z.boolean()),
} satisfies Partial<Record<OptionName, z.ZodType>>;

export const pageOption = option('page', z.int().min(1));

/** What is read, and what only other answers have room for. */
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
  `Further options of the reader by their names: ${FURTHER_OPTIONS.join(', ')}. The resource ${OPTIONS_URI} tells what each means.`,
);
/** Where the same list stands in another tool already. */
export const furtherOptionsBrief = further().describe('Further options of the reader by their names, as in read_url.');

interface GivenOptions {
  readonly options?: Record<string, unknown> | undefined;
  readonly [name: string]: unknown;
}

const PICTURES = /screenshot|pageshot/;

/** The options of a read. ToolError names one that there is not. */
export function readOptions({ options = {}, ...own }: GivenOptions): ReadOptions {
  for (const name of Object.keys(options)) {
    if (FURTHER_OPTIONS.some((known) => known === name) || name in COMMON_OPTIONS) continue;
    throw new ToolError(`options.${name}: there is no such option here. There are ${FURTHER_OPTIONS.join(', ')}.`);
  }
  if (PICTURES.test(String(options.respondWith ?? ''))) {
    throw new ToolError('options.respondWith: for a picture of a page, call the tool `screenshot`.');
  }
  const named = Object.entries(own).filter(
    ([name, value]) => value !== undefined && (name in COMMON_OPTIONS || name === 'page'),
  );
  return { ...options, ...Object.fromEntries(named) };
}

/** Whether nothing of what was read may be remembered. */
const mustNotBeStored = (options: ReadOptions): boolean =>
  Object.entries(options).some(([name, value]) => {
    const { caching } = OPTIONS[name as OptionName] as { caching?: string };
    return Boolean(value) && (caching === 'neither' || caching === 'not written');
  });

export interface PageText {
  readonly text: string;
}

/** Reads, or takes what was read a moment ago when the rest of it is asked for. */
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

/** All that the page says, its title and links too: everything that must stand within the fence. */
export function formatPage(page: Page): string {
  const head = [
    page.title && `Title: ${page.title}`,
    // Of a file that was sent, its hash.
    !page.url.startsWith('blob:') && `URL: ${page.url}`,
    page.targetStatus !== undefined && page.targetStatus !== 200 && `Status: ${page.targetStatus}`,
    page.publishedTime && `Published: ${page.publishedTime}`,
    page.numPages && `Pages: ${page.numPages}`,
    page.warning && `Warning: ${page.warning}`,
  ].filter(Boolean);
  const body = [page.content ?? page.chunks?.join('\n\n'), page.text, page.html].filter(Boolean);
  const lists = [formatList('Links', page.links), formatList('Images', page.images)].filter(Boolean);
  // Here, so that what is counted and cut is what is shown.
  return withoutMarks([head.join('\n'), ...body, ...lists].join('\n\n'));
}

function formatList(name: string, list: Page['links'] | Page['images']): string {
  const pairs = Array.isArray(list) ? list : Object.entries(list ?? {});
  return pairs.length ? `${name}:\n${pairs.map(([text, address]) => `- [${text}](${address})`).join('\n')}` : '';
}

/** Our own words beside a piece and its fence, in tokens. */
const OVERHEAD_TOKENS = 80;

/** What stands around a piece from a source, in tokens; they must be loaded. */
export const fenceTokens = (source: string): number => countTokens(fence('', source)) + OVERHEAD_TOKENS;

/** One piece of a text in its fence, and how to get the next one. */
export async function formatExcerpt(
  { text }: PageText,
  source: string,
  { offset, tokens }: { readonly offset: number; readonly tokens: number },
): Promise<string> {
  if (offset > 0 && offset >= text.length) {
    throw new ToolError(`offset: there are only ${text.length} characters, so there is nothing from ${offset} on.`);
  }
  await loadTokens();
  const piece = await takeExcerpt(text, offset, Math.max(1, tokens - fenceTokens(source)));
  const { start, end } = piece;
  if (start === 0 && end === text.length) return fence(piece.text, source);
  const where = `Characters ${start} to ${end} of ${text.length}.`;
  const rest =
    end < text.length
      ? `${where} For the rest call again with the same arguments and \`offset\`: ${end}.`
      : `${where} This is the end.`;
  return `${fence(piece.text, source)}\n${rest}`;
}

/** `example.com/page`, as people write it. */
const SCHEMELESS_URL = /^[\w.-]+(?::\d+)?(?:[/?#]|$)/;

/** The address as it is used, in one line. ToolError names the argument. */
export function normalizeUrl(given: string, argument: string): string {
  const text = SCHEMELESS_URL.test(given.trim()) ? `https://${given.trim()}` : given.trim();
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url.href;
  throw new ToolError(`${argument}: ${JSON.stringify(given.slice(0, 200))} is not an http or https address.`);
}
