/** The threads in which snapshots become renditions, and what it means when a page is too much for one. */

import { TaskCrashed, TaskTimeUp, TooManyTasks } from '#concurrency/tasks.ts';
import { createThreads } from '#concurrency/threads.ts';
import { type Facts, problem } from '#errors.ts';
import type { EncodedBody } from './engines/encoded-body.ts';
import type { RenderTask } from './render.ts';
import type { Rendition } from './rendition.ts';
import type { Outcome, Task } from './worker.ts';

export interface Renderer {
  /** AssertionFailureError when the page cannot be worked through within the limits of time and memory. */
  render(task: RenderTask, signal: AbortSignal): Promise<Rendition>;
  /** How many words of main content HTML has without its scripts; none when it is too much to tell. */
  probe(html: string, url: string, signal: AbortSignal): Promise<{ words: number; scripts: boolean }>;
  /** The text of a body, for bodies that are too large to decode where others wait. */
  decode(body: EncodedBody, signal: AbortSignal): Promise<string>;
  /** Whether HTML has main content to show. */
  hasContent(html: string): Promise<boolean>;
  close(): Promise<void>;
}

export interface RendererOptions {
  readonly threads?: number | undefined;
  readonly memoryMb: number;
  readonly timeoutMs: number;
}

const WORKER = new URL(`./worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);

export function createRenderer({ threads: count, memoryMb, timeoutMs }: RendererOptions): Renderer {
  const threads = createThreads<Task, Outcome>({ worker: WORKER, count, memoryMb });

  async function run(task: Task, signal: AbortSignal): Promise<Outcome> {
    try {
      return await threads.run(task, { timeoutMs, signal, weight: weightOf(task) });
    } catch (error) {
      if (error instanceof TaskTimeUp) {
        throw problem('AssertionFailureError', {
          message: `The page could not be worked through within ${timeoutMs / 1000} s`,
        });
      }
      if (error instanceof TaskCrashed) {
        throw problem('AssertionFailureError', { message: 'The page needs more memory than one page may take' }, error);
      }
      if (error instanceof TooManyTasks) throw problem('ServiceNodeResourceDrainError', { retryAfter: 5 });
      throw error;
    }
  }

  return {
    async render(task, signal) {
      const { screenshot, pageshot, ...snapshot } = task.snapshot;
      // Pictures stay here; the thread only needs to know that there are some.
      const marker = { ...(screenshot && { screenshot: NONE }), ...(pageshot && { pageshot: NONE }) };
      const outcome = await run({ kind: 'render', ...task, snapshot: { ...snapshot, ...marker } }, signal);
      if (outcome.kind !== 'rendition') throw failure(outcome);
      return { ...outcome.rendition, screenshot, pageshot };
    },
    async probe(html, url, signal) {
      const outcome = await run({ kind: 'probe', html, url }, signal);
      if (outcome.kind !== 'probe') throw failure(outcome);
      return { words: outcome.words, scripts: outcome.scripts };
    },
    async decode(body, signal) {
      const outcome = await run({ kind: 'decode', body }, signal);
      if (outcome.kind !== 'text') throw failure(outcome);
      return outcome.text;
    },
    async hasContent(html) {
      const outcome = await run({ kind: 'probe', html, url: 'about:blank' }, NEVER);
      return outcome.kind === 'probe' && outcome.words >= ENOUGH_WORDS;
    },
    close: () => threads.close(),
  };
}

/** HTML with fewer words of main content than this has next to nothing to say. */
export const ENOUGH_WORDS = 30;

/** Pages up to this size are alike; a larger one lets smaller ones go first. */
const LIGHT = 256 * 1024;

function weightOf(task: Task): number {
  const size =
    task.kind === 'render'
      ? task.snapshot.text.length
      : task.kind === 'probe'
        ? task.html.length
        : task.body.bytes.length;
  return size <= LIGHT ? 0 : size;
}

const NEVER = new AbortController().signal;
const NONE = new Uint8Array(0);

const failure = (outcome: Outcome) =>
  outcome.kind === 'problem' ? problem(outcome.name, outcome.facts as Facts) : problem('InternalError');
