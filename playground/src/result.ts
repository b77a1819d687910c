/** Normalizes a response, whether it is complete, streamed or plain text. */
import { type Fields, isRecord } from './fields.ts';
import type { Answer } from './send.ts';

/** A page from the reader or a search. */
export type Page = Fields & { readonly title?: string; readonly url?: string; readonly content?: string };

export interface Result {
  /** One page from the reader, or the results of a search. */
  readonly pages: readonly Page[];
  /** Recognized text, or a response that was requested as text. */
  readonly text?: string | undefined;
  /** The complete body of a model response. */
  readonly body: Fields;
  readonly meta: Fields;
  readonly trace: Fields | undefined;
  readonly tokens: number | undefined;
}

export function resultOf(answer: Answer): Result {
  const trace = answer.events.findLast(({ event }) => event === 'trace')?.data;
  const last = answer.events.findLast(({ event }) => event !== 'trace' && event !== 'error')?.data;
  const body = isRecord(answer.json) ? answer.json : {};
  const { tab } = answer.call;
  const isModel = tab !== 'read' && tab !== 'search' && tab !== 'ask';
  const data = last === undefined || isModel ? body.data : last;
  const meta = isRecord(body.meta) ? body.meta : {};
  const pages = isModel ? [] : (Array.isArray(data) ? data : [data]).filter(isRecord);
  return {
    pages,
    text: tab === 'ocr' ? recognized(answer, body) : isWhole(answer) ? answer.text : undefined,
    body,
    meta,
    trace: [trace, meta.trace, body.trace].find(isRecord),
    tokens: tokensOf(answer, body, meta, pages),
  };
}

const isWhole = ({ json, events, failure }: Answer) => json === undefined && events.length === 0 && !failure;

function recognized({ events }: Answer, body: Fields): string {
  if (events.length > 0) return events.map(({ data }) => choiceOf(data, 'delta')).join('');
  return choiceOf(body, 'message');
}

function choiceOf(data: unknown, part: 'delta' | 'message'): string {
  const choice = isRecord(data) && Array.isArray(data.choices) ? data.choices[0] : undefined;
  const inner = isRecord(choice) ? choice[part] : undefined;
  return isRecord(inner) && typeof inner.content === 'string' ? inner.content : '';
}

function tokensOf(answer: Answer, body: Fields, meta: Fields, pages: readonly Page[]): number | undefined {
  const header = Number(answer.headers['x-usage-tokens']);
  if (answer.headers['x-usage-tokens'] && !Number.isNaN(header)) return header;
  const chunk = answer.events.findLast(({ data }) => isRecord(data) && isRecord(data.usage))?.data;
  for (const usage of [meta.usage, body.usage, isRecord(chunk) ? chunk.usage : undefined]) {
    if (!isRecord(usage)) continue;
    for (const count of [usage.tokens, usage.total_tokens]) if (typeof count === 'number') return count;
  }
  if (pages.length === 0) return undefined;
  const sum = pages.reduce((total, { usage }) => total + (isRecord(usage) ? Number(usage.tokens) || 0 : 0), 0);
  return sum || undefined;
}

/** Data about how a page was read. A page cannot set metadata names that contain `lectern:`. */
export function metadataFacts(answer: Answer, { pages, trace }: Result): (readonly [string, string])[] {
  const [page] = pages;
  const metadata = page && isRecord(page.metadata) ? page.metadata : {};
  const facts: [string, unknown][] = [
    ['Engine', trace?.engine ?? metadata['lectern:engine']],
    ['Cache', trace?.cache],
    ['Provider', answer.headers['x-search-provider']],
    ['Model', answer.json && isRecord(answer.json) ? answer.json.model : undefined],
  ];
  return facts.flatMap(([name, value]) => (typeof value === 'string' && value ? [[name, value] as const] : []));
}
