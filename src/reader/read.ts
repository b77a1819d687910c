/**
 * The reader's pipeline, the file to read first: a target and options in, renditions out. An engine yields snapshots,
 * each better than the last; each becomes a rendition in a worker thread; the last one is the answer.
 */
import { Problem, problem } from '#errors.ts';
import { temporaryFolder } from '#storage/temporary.ts';
import { createChooser, type Engines } from './engines/choose.ts';
import { createFailures } from './failures.ts';
import type { Options } from './options/resolve.ts';
import type { Rendition } from './rendition.ts';
import type { Snapshot } from './snapshot.ts';
import type { Target } from './target.ts';

export interface ReadRequest {
  readonly target: Target;
  readonly options: Options;
  /** Aborted when the caller has gone. */
  readonly signal: AbortSignal;
  /** Whether the caller gave a key; those who did not have narrower limits. */
  readonly keyed: boolean;
}

export interface Reader {
  /** Better and better renditions of the target; at least one, or a problem. */
  each(request: ReadRequest): AsyncGenerator<Rendition>;
  /** The final rendition alone. */
  last(request: ReadRequest): Promise<Rendition>;
}

export interface ReaderParts extends Engines {
  /** Where the files of a read lie while it lasts. */
  readonly temporaryDir: string;
}

export function createReader(parts: ReaderParts): Reader {
  const failures = createFailures();
  const choose = createChooser(parts);

  async function* snapshots(request: ReadRequest): AsyncGenerator<Snapshot> {
    const folder = temporaryFolder(parts.temporaryDir);
    try {
      yield* choose(request, folder.path);
    } finally {
      await folder.remove();
    }
  }

  async function* each(request: ReadRequest): AsyncGenerator<Rendition> {
    const { target, options, signal } = request;
    failures.check(target.url);
    try {
      for await (const snapshot of snapshots(request)) {
        assertStatus(snapshot, options);
        const rendition = await parts.renderer.render({ snapshot, options, requestedUrl: target.url }, signal);
        assertBudget(rendition, options);
        yield rendition;
      }
    } catch (error) {
      throw remembered(error, target.url);
    }
  }

  async function last(request: ReadRequest): Promise<Rendition> {
    const { target, options, signal } = request;
    failures.check(target.url);
    try {
      let latest: Snapshot | undefined;
      for await (const snapshot of snapshots(request)) latest = snapshot;
      if (!latest) throw problem('AssertionFailureError', { message: 'The page gave nothing to read' });
      assertStatus(latest, options);
      const rendition = await parts.renderer.render({ snapshot: latest, options, requestedUrl: target.url }, signal);
      assertBudget(rendition, options);
      return rendition;
    } catch (error) {
      throw remembered(error, target.url);
    }
  }

  function remembered(error: unknown, url: string): unknown {
    if (error instanceof Problem && error.name === 'AssertionFailureError') failures.add(url);
    return error;
  }

  return { each, last };
}

function assertStatus(snapshot: Snapshot, { assertStatusCode }: Options): void {
  if (assertStatusCode === undefined || snapshot.status === assertStatusCode) return;
  throw problem('AssertionFailureError', {
    path: 'assertStatusCode',
    message: `The page answered with status ${snapshot.status}, not ${assertStatusCode}`,
  });
}

function assertBudget({ tokens }: Rendition, { tokenBudget }: Options): void {
  if (!tokenBudget || tokens <= tokenBudget) return;
  throw problem('BudgetExceededError', {
    path: 'tokenBudget',
    message: `The answer costs ${tokens} tokens, the budget is ${tokenBudget}`,
  });
}
