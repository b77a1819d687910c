/** What runs in a worker thread. Failures come back as data, since errors lose their kind on the way between threads. */
import { type Facts, Problem, type ProblemName } from '#errors.ts';
import { textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { decodeBody, type EncodedBody } from './engines/encoded-body.ts';
import { extractArticle } from './extract/extract.ts';
import { type RenderTask, render } from './render.ts';
import type { Rendition } from './rendition.ts';
import { loadTokens } from './tokens.ts';

export type Task =
  | ({ kind: 'render' } & RenderTask)
  | { kind: 'probe'; html: string; url: string }
  | { kind: 'decode'; body: EncodedBody };

export type Outcome =
  | { kind: 'rendition'; rendition: Rendition }
  | { kind: 'probe'; words: number; scripts: boolean }
  | { kind: 'text'; text: string }
  | { kind: 'problem'; name: ProblemName; facts: Facts };

/** Pages up to this size are probed; larger ones surely have content. */
const MAX_PROBED_CHARACTERS = 2_000_000;

export default async function work(task: Task): Promise<Outcome> {
  try {
    if (task.kind === 'probe') return probe(task);
    if (task.kind === 'decode') return { kind: 'text', text: decodeBody(task.body) };
    await loadTokens();
    return { kind: 'rendition', rendition: render(task) };
  } catch (error) {
    if (error instanceof Problem)
      return { kind: 'problem', name: error.name, facts: { message: error.message, ...error.facts } };
    throw error;
  }
}

/** How much main content a page has by itself, and whether scripts could add to it. */
function probe({ html, url }: { html: string; url: string }): Outcome {
  const scripts = /<script\b/i.test(html);
  if (html.length > MAX_PROBED_CHARACTERS) return { kind: 'probe', words: Number.MAX_SAFE_INTEGER, scripts };
  const document = parseDocument(html);
  const article = extractArticle(document, { url, baseUrl: url, whole: false });
  const words = textOf(article.content).match(/[\p{L}\p{N}]+/gu)?.length ?? 0;
  return { kind: 'probe', words, scripts };
}
