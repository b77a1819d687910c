/**
 * The reader's pipeline, the file to read first: a target and options in, renditions out. An engine yields snapshots,
 * each better than the last; each becomes a rendition in a worker thread; the last one is the answer.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Problem, problem } from '#errors.ts';
import { temporaryFolder } from '#storage/temporary.ts';
import { createChooser, type Engines } from './engines/choose.ts';
import type { Engine } from './engines/engine.ts';
import { createFailures } from './failures.ts';
import { type FileSnapshot, type FileTools, readFileSnapshot } from './file.ts';
import type { Options } from './options/resolve.ts';
import type { RenderLimits } from './render.ts';
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
  readonly files: FileTools;
  readonly limits: Limits;
  /** Where the files of a read lie while it lasts. */
  readonly temporaryDir: string;
}

export interface Limits extends RenderLimits {
  /** `maxElements` for callers without a key. */
  readonly maxElementsKeyless: number;
}

export function createReader(parts: ReaderParts): Reader {
  const failures = createFailures();
  const choose = createChooser(parts);
  const { browser } = parts;
  const files: FileTools = { ...parts.files, ...(browser && { shoot: shooter(browser) }) };

  /** What the engines saw; a target that is a file as what was read from it. */
  async function* live(request: ReadRequest): AsyncGenerator<Snapshot> {
    const { target, options, signal } = request;
    const folder = temporaryFolder(parts.temporaryDir);
    const read = (snapshot: FileSnapshot) => readFileSnapshot({ snapshot, target, options, signal }, files);
    try {
      if (target.upload) return yield await read(await uploaded(target, await folder.path()));
      for await (const snapshot of choose(request, folder.path)) {
        yield isFile(snapshot) ? await read(snapshot) : snapshot;
      }
    } finally {
      await folder.remove();
    }
  }

  function rendered(snapshot: Snapshot, { target, options, signal, keyed }: ReadRequest): Promise<Rendition> {
    const { maxElements, maxElementsKeyless, ...limits } = parts.limits;
    const task = { snapshot, options, requestedUrl: target.url };
    return parts.renderer.render(
      { ...task, limits: { ...limits, maxElements: keyed ? maxElements : maxElementsKeyless } },
      signal,
    );
  }

  async function* each(request: ReadRequest): AsyncGenerator<Rendition> {
    const { target, options } = request;
    failures.check(target.url);
    try {
      for await (const snapshot of live(request)) {
        assertStatus(snapshot, options);
        const rendition = await rendered(snapshot, request);
        assertBudget(rendition, options);
        yield rendition;
      }
    } catch (error) {
      throw remembered(error, target.url);
    }
  }

  async function last(request: ReadRequest): Promise<Rendition> {
    const { target, options } = request;
    failures.check(target.url);
    try {
      let latest: Snapshot | undefined;
      for await (const snapshot of live(request)) latest = snapshot;
      if (!latest) throw problem('AssertionFailureError', { message: 'The page gave nothing to read' });
      assertStatus(latest, options);
      const rendition = await rendered(latest, request);
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

const SHOT_MS = 15_000;

/** Pictures of HTML that was made from a file whose pages cannot be drawn otherwise. */
const shooter =
  (browser: Engine): NonNullable<FileTools['shoot']> =>
  async (html, options, signal) => {
    let picture: Uint8Array | undefined;
    const deadline = performance.now() + (options.timeoutMs ?? SHOT_MS);
    const visit = { url: 'about:blank', html, options, deadline, signal, keyed: true, folder: noFolder };
    for await (const { pageshot, screenshot } of browser.visit(visit)) picture = pageshot ?? screenshot ?? picture;
    return picture;
  };

const noFolder = async (): Promise<string> => {
  throw problem('InternalError');
};

const isFile = (snapshot: Snapshot): snapshot is FileSnapshot => snapshot.file !== undefined;

/** A file that came with the request, laid down for those who read files. */
async function uploaded({ url, upload }: Target, folder: string): Promise<FileSnapshot> {
  const { bytes, mediaType, contentType, name } = upload!;
  const file = path.join(folder, 'upload');
  await writeFile(file, bytes, { mode: 0o600 });
  return {
    url,
    status: 200,
    statusText: 'OK',
    mediaType,
    text: '',
    settled: true,
    hiddenFrames: false,
    hiddenShadow: false,
    notes: [],
    engine: 'given',
    file: { path: file, size: bytes.byteLength, mediaType, contentType, name },
  };
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
