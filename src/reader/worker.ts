/**
 * Code of the worker threads. Failures are returned as data, because errors lose their class when they are passed
 * between threads.
 */
import { type Facts, Problem, type ProblemName } from '#errors.ts';
import { parseDocument } from '#html/parse.ts';
import type { Blocked } from './blocked/blocked.ts';
import { type Answer, examinePage } from './blocked/examine.ts';
import { decodeBody, type EncodedBody } from './engines/encoded-body.ts';
import { type Evidence, evidenceOf, type PageAnswer } from './engines/evidence.ts';
import { isUnchanged } from './engines/unchanged.ts';
import { checkJson, type JsonCheck } from './formats/json-answer.ts';
import type { ModelInput } from './formats/model-input.ts';
import { type ModelOutputTask, renderModelOutput } from './formats/model-output.ts';
import { modelInputOf, type RenderTask, render } from './render.ts';
import type { Rendition } from './rendition.ts';
import { loadTokens } from './tokens.ts';

export type Task =
  | ({ kind: 'render'; timed?: boolean } & RenderTask)
  | ({ kind: 'model-input' } & RenderTask)
  | ({ kind: 'model-output' } & ModelOutputTask)
  | { kind: 'json'; schema: object; text: string | undefined }
  | { kind: 'probe'; html: string; url: string; answer?: PageAnswer | undefined }
  | { kind: 'examine'; html: string; answer: Answer }
  | { kind: 'compare'; fetched: string; rendered: string; url: string }
  | { kind: 'decode'; body: EncodedBody };

export type Outcome =
  | { kind: 'rendition'; rendition: Rendition; steps?: readonly TimedStep[] }
  | { kind: 'model-input'; modelInput: ModelInput }
  | { kind: 'json'; check: JsonCheck }
  | { kind: 'probe'; evidence: Evidence }
  | { kind: 'blocked'; blocked: Blocked | undefined }
  | { kind: 'comparison'; unchanged: boolean }
  | { kind: 'text'; text: string }
  | { kind: 'problem'; name: ProblemName; facts: Facts };

/** Start and end of a step, in milliseconds since 1970, because that is the only clock that threads share. */
export interface TimedStep {
  readonly name: 'parse' | 'extract' | 'markdown';
  readonly fromMs: number;
  readonly toMs: number;
}

/** Larger pages are not probed, but assumed to have content. */
const MAX_PROBED_CHARACTERS = 2_000_000;

export default async function work(task: Task): Promise<Outcome> {
  try {
    if (task.kind === 'decode') return { kind: 'text', text: await decodeBody(task.body) };
    if (task.kind === 'compare') return compare(task);
    if (task.kind === 'examine')
      return { kind: 'blocked', blocked: examinePage(parseDocument(task.html), task.answer) };
    if (task.kind === 'json') return { kind: 'json', check: await checkJson(task.schema, task.text) };
    if (needsTokens(task)) await loadTokens();
    if (task.kind === 'model-input') return { kind: 'model-input', modelInput: modelInputOf(task) };
    if (task.kind === 'model-output') return { kind: 'rendition', rendition: renderModelOutput(task) };
    if (task.kind === 'probe') return { kind: 'probe', evidence: probe(task) };
    return task.timed ? timed(task) : { kind: 'rendition', rendition: render(task) };
  } catch (error) {
    if (error instanceof Problem)
      return { kind: 'problem', name: error.name, facts: { message: error.message, ...error.facts } };
    throw error;
  }
}

/** Loading the vocabulary takes longer than rendering most pages. */
const needsTokens = (task: Task): boolean =>
  task.kind !== 'render' ||
  !task.contentOnly ||
  task.options.maxTokens !== undefined ||
  task.options.markdownChunking !== undefined;

function timed(task: RenderTask): Outcome {
  const steps: TimedStep[] = [];
  let fromMs = performance.timeOrigin + performance.now();
  const done = (name: TimedStep['name']) => {
    const toMs = performance.timeOrigin + performance.now();
    steps.push({ name, fromMs, toMs });
    fromMs = toMs;
  };
  const rendition = render(task, done);
  done('markdown');
  return { kind: 'rendition', rendition, steps };
}

function probe({ html, url, answer }: Task & { kind: 'probe' }): Evidence {
  if (html.length <= MAX_PROBED_CHARACTERS) return evidenceOf(parseDocument(html), url, answer);
  const words = Number.MAX_SAFE_INTEGER;
  return { words, tokens: words, scripts: /<script\b/i.test(html), styles: true };
}

const compare = ({ fetched, rendered, url }: Task & { kind: 'compare' }): Outcome => ({
  kind: 'comparison',
  unchanged: fetched.length + rendered.length <= 2 * MAX_PROBED_CHARACTERS && isUnchanged(fetched, rendered, url),
});
