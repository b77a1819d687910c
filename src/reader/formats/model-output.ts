/**
 * Turns the output of a model into a rendition: truncates the text, counts its tokens and computes the charge. Pure;
 * runs in a thread.
 */
import { parseDocument } from '#html/parse.ts';
import { textLayout } from '../layout.ts';
import type { MarkdownStyle } from '../markdown/style.ts';
import { toMarkdown } from '../markdown/to-markdown.ts';
import { orderedPage, type Page, type Rendition } from '../rendition.ts';
import { countTokens, keepTokens } from '../tokens.ts';
import { truncationWarning } from '../warnings.ts';
import { cleanMarkdown } from './clean-output.ts';

export interface ModelOutputTask {
  readonly head: Pick<Page, 'title' | 'description' | 'url' | 'targetStatus' | 'storageState'>;
  readonly text: string;
  /**
   * How to process the output: Markdown is made safe, HTML is converted to Markdown, and JSON was already validated and
   * is not changed.
   */
  readonly form: 'markdown' | 'html' | 'json';
  readonly style: MarkdownStyle;
  /** Warnings for the caller, one per line: the page was truncated, or the model stopped early. */
  readonly notes: readonly string[];
  readonly maxTokens: number | undefined;
  /** Price factor of the result. */
  readonly chargeFactor: number;
}

/**
 * Minimum price of a model's result, before the factor, and maximum price (docs/reference/wire/reader.md, Tokens and
 * charge).
 */
const MIN_CHARGE = 4_000;
const MAX_CHARGE = 2_000_000;

export function renderModelOutput(task: ModelOutputTask): Rendition {
  const { head, notes, maxTokens, chargeFactor } = task;
  const whole = contentOf(task);
  const content = maxTokens === undefined ? whole : keepTokens(whole, maxTokens);
  const total = countTokens(content) || countTokens(head.description);
  const tokens = Math.min(Math.max(total, MIN_CHARGE) * chargeFactor, MAX_CHARGE);
  const cut = content.length < whole.length ? [truncationWarning(maxTokens!)] : [];
  const lines = [...notes, ...cut];
  const warning = lines.length > 0 ? { warning: lines.join('\n') } : {};
  const page = orderedPage({ ...head, content, ...warning, usage: { tokens } });
  return { page, body: textLayout(page), tokens };
}

function contentOf({ text, form, style, head: { url } }: ModelOutputTask): string {
  if (form === 'json') return text;
  if (form === 'markdown') return cleanMarkdown(text);
  const keep = { gfm: 'all', retainLinks: 'all', retainImages: 'all', keepImgDataUrl: false } as const;
  return toMarkdown(parseDocument(text), { ...style, ...keep, pageUrl: url, baseUrl: url }).markdown;
}
