/** What a model wrote, as a rendition: cut, counted, charged. Pure; it runs in a thread. */
import { parseDocument } from '#html/parse.ts';
import { textLayout } from '../layout.ts';
import type { MarkdownStyle } from '../markdown/style.ts';
import { toMarkdown } from '../markdown/to-markdown.ts';
import { orderedPage, type Page, type Rendition } from '../rendition.ts';
import { countTokens, keepTokens } from '../tokens.ts';
import { cutAfter } from '../warnings.ts';
import { cleanMarkdown } from './written.ts';

export interface AnswerTask {
  readonly head: Pick<Page, 'title' | 'description' | 'url' | 'targetStatus' | 'storageState'>;
  readonly text: string;
  /** Markdown is made safe, HTML becomes Markdown; JSON has been checked and stays as it is. */
  readonly form: 'markdown' | 'html' | 'json';
  readonly style: MarkdownStyle;
  /** What the caller should know: the page was cut, the model did not come to an end. One line each. */
  readonly notes: readonly string[];
  readonly maxTokens: number | undefined;
  /** How many times its tokens the answer is charged. */
  readonly chargeFactor: number;
}

/** What an answer of a model is charged at least, before the factor, and at most (contract, section 6.9). */
const LEAST_CHARGE = 4_000;
const MAX_CHARGE = 2_000_000;

export function answer(task: AnswerTask): Rendition {
  const { head, notes, maxTokens, chargeFactor } = task;
  const whole = contentOf(task);
  const content = maxTokens === undefined ? whole : keepTokens(whole, maxTokens);
  const total = countTokens(content) || countTokens(head.description);
  const tokens = Math.min(Math.max(total, LEAST_CHARGE) * chargeFactor, MAX_CHARGE);
  const cut = content.length < whole.length ? [cutAfter(maxTokens!)] : [];
  const told = [...notes, ...cut];
  const warning = told.length > 0 ? { warning: told.join('\n') } : {};
  const page = orderedPage({ ...head, content, ...warning, usage: { tokens } });
  return { page, body: textLayout(page), tokens };
}

function contentOf({ text, form, style, head: { url } }: AnswerTask): string {
  if (form === 'json') return text;
  if (form === 'markdown') return cleanMarkdown(text);
  const keep = { gfm: 'all', retainLinks: 'all', retainImages: 'all', keepImgDataUrl: false } as const;
  return toMarkdown(parseDocument(text), { ...style, ...keep, pageUrl: url, baseUrl: url }).markdown;
}
