/** Runs rendering in worker threads, and throws problems if a time or memory limit is exceeded. */

import { NEVER_ABORTED } from '#concurrency/never-aborted.ts';
import { type Load, QueueFullError, TaskCrashedError, TaskTimeoutError } from '#concurrency/task-queue.ts';
import { createThreadPool } from '#concurrency/threads.ts';
import { type Facts, problem } from '#errors.ts';
import type { Trace } from '#telemetry/trace.ts';
import type { Blocked } from './blocked/blocked.ts';
import type { Answer } from './blocked/examine.ts';
import type { EncodedBody } from './engines/encoded-body.ts';
import type { Evidence, PageAnswer } from './engines/evidence.ts';
import { MIN_WORDS } from './engines/evidence-values.ts';
import type { JsonCheck } from './formats/json-answer.ts';
import type { ModelInput } from './formats/model-input.ts';
import type { ModelOutputTask } from './formats/model-output.ts';
import type { RenderTask } from './render.ts';
import type { Rendition } from './rendition.ts';
import type { Outcome, Task, TimedStep } from './worker.ts';

export interface Renderer {
  /** Throws AssertionFailureError if the page exceeds the time or memory limit. */
  render(task: RenderTask, signal: AbortSignal, trace?: Trace): Promise<Rendition>;
  /**
   * Returns the input to send to the model, for formats whose result a model writes. Throws the same errors as
   * `render`.
   */
  modelInput(task: RenderTask, signal: AbortSignal): Promise<ModelInput>;
  /** Turns a model's output into a rendition. */
  renderModelOutput(task: ModelOutputTask, signal: AbortSignal): Promise<Rendition>;
  /**
   * Validates a text against the caller's JSON Schema; without a text, checks only the schema. Throws
   * ParamValidationError with `path` set to `jsonSchema` if the schema is unusable or takes too long.
   */
  checkJson(schema: object, text: string | undefined, signal: AbortSignal): Promise<JsonCheck>;
  /** Returns what the HTML of a page reveals about its scripts. */
  probe(html: string, url: string, signal: AbortSignal, answer?: PageAnswer): Promise<Evidence>;
  /** Returns what a page is instead of the content; `undefined` for content. */
  examine(html: string, answer: Answer, signal: AbortSignal): Promise<Blocked | undefined>;
  /** Returns whether rendering a page made no difference to its content. */
  isUnchanged(fetched: string, rendered: string, url: string): Promise<boolean>;
  /** Decodes a body that is too large to be decoded in the main thread. */
  decode(body: EncodedBody, signal: AbortSignal): Promise<string>;
  /** Whether HTML has main content. */
  hasContent(html: string): Promise<boolean>;
  load(): Load;
  close(): Promise<void>;
}

export interface RendererOptions {
  readonly threads?: number | undefined;
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

export function createRenderer({ threads: count, memoryMb, timeoutMs }: RendererOptions): Renderer {
  const threads = createThreadPool<Task, Outcome>({ worker: WORKER, count, memoryMb });

  async function run(task: Task, signal: AbortSignal): Promise<Outcome> {
    try {
      return await threads.run(task, { timeoutMs, signal, weight: weightOf(task) });
    } catch (error) {
      if (error instanceof TaskTimeoutError) {
        throw problem('AssertionFailureError', {
          message: `The page could not be processed within ${timeoutMs / 1000} s`,
        });
      }
      if (error instanceof TaskCrashedError) {
        throw problem(
          'AssertionFailureError',
          { message: 'The page needs more memory than the limit for one page' },
          error,
        );
      }
      throw tooBusy(error);
    }
  }

  return {
    async render(task, signal, trace) {
      const { screenshot, pageshot, ...snapshot } = task.snapshot;
      // The thread only needs to know whether there are pictures; their bytes remain in the main thread.
      const marker = { ...(screenshot && { screenshot: NONE }), ...(pageshot && { pageshot: NONE }) };
      const askedMs = performance.now();
      const timed = trace !== undefined;
      const outcome = await run({ kind: 'render', ...task, timed, snapshot: { ...snapshot, ...marker } }, signal);
      if (outcome.kind !== 'rendition') throw failure(outcome);
      if (trace && outcome.steps) recordSteps(trace, askedMs, outcome.steps);
      return { ...outcome.rendition, screenshot, pageshot };
    },
    async modelInput(task, signal) {
      const { screenshot: _, pageshot: __, ...snapshot } = task.snapshot;
      const outcome = await run({ kind: 'model-input', ...task, snapshot }, signal);
      if (outcome.kind !== 'model-input') throw failure(outcome);
      return outcome.modelInput;
    },
    async renderModelOutput(task, signal) {
      const outcome = await run({ kind: 'model-output', ...task }, signal);
      if (outcome.kind !== 'rendition') throw failure(outcome);
      return outcome.rendition;
    },
    async checkJson(schema, text, signal) {
      const task = { kind: 'json', schema, text } as const;
      const limits = { timeoutMs: CHECK_MS, signal, weight: weightOf(task) };
      const outcome = await threads.run(task, limits).catch((error: unknown) => {
        throw error instanceof TaskTimeoutError || error instanceof TaskCrashedError
          ? schemaTooSlow(error)
          : tooBusy(error);
      });
      if (outcome.kind !== 'json') throw failure(outcome);
      return outcome.check;
    },
    async probe(html, url, signal, answer) {
      const outcome = await run({ kind: 'probe', html, url, answer }, signal);
      if (outcome.kind !== 'probe') throw failure(outcome);
      return outcome.evidence;
    },
    async examine(html, answer, signal) {
      const outcome = await run({ kind: 'examine', html, answer }, signal);
      if (outcome.kind !== 'blocked') throw failure(outcome);
      return outcome.blocked;
    },
    async isUnchanged(fetched, rendered, url) {
      const outcome = await run({ kind: 'compare', fetched, rendered, url }, NEVER_ABORTED);
      return outcome.kind === 'comparison' && outcome.unchanged;
    },
    async decode(body, signal) {
      const outcome = await run({ kind: 'decode', body }, signal);
      if (outcome.kind !== 'text') throw failure(outcome);
      return outcome.text;
    },
    async hasContent(html) {
      const outcome = await run({ kind: 'probe', html, url: 'about:blank' }, NEVER_ABORTED);
      return outcome.kind === 'probe' && outcome.evidence.words >= MIN_WORDS;
    },
    load: threads.load,
    close: () => threads.close(),
  };
}

/** Records how long the task waited for a thread, and the steps that the thread timed. */
function recordSteps(trace: Trace, askedMs: number, steps: readonly TimedStep[]): void {
  const here = (ms: number) => ms - performance.timeOrigin;
  trace.note('queue', askedMs, here(steps[0]!.fromMs));
  for (const { name, fromMs, toMs } of steps) trace.note(name, here(fromMs), here(toMs));
}

/** Pages up to this size have equal priority; a larger page yields to smaller ones. */
const LIGHT_CHARACTERS = 256 * 1024;

function weightOf(task: Task): number {
  const size = sizeOf(task);
  return size <= LIGHT_CHARACTERS ? 0 : size;
}

function sizeOf(task: Task): number {
  switch (task.kind) {
    case 'render':
    case 'model-input':
      return task.snapshot.text.length;
    case 'model-output':
      return task.text.length;
    case 'json':
      return task.text?.length ?? 0;
    case 'probe':
    case 'examine':
      return task.html.length;
    case 'compare':
      return task.fetched.length + task.rendered.length;
    case 'decode':
      return task.body.bytes.length;
  }
}

/** Time limit for compiling a schema and validating a text. */
const CHECK_MS = 5_000;

const tooBusy = (error: unknown) =>
  error instanceof QueueFullError ? problem('ServiceNodeResourceDrainError', { retryAfter: 5 }) : error;

const schemaTooSlow = (error: unknown) =>
  problem('ParamValidationError', { path: 'jsonSchema', message: 'The schema takes too long to check' }, error);

const NONE = new Uint8Array(0);

const failure = (outcome: Outcome) =>
  outcome.kind === 'problem' ? problem(outcome.name, outcome.facts as Facts) : problem('InternalError');
