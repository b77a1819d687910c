/**
 * The pipeline of a read; read this file first. An engine yields snapshots, each more complete than the last. A worker
 * thread turns each into a rendition. The last rendition is the answer.
 */
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { Problem, problem } from '#errors.ts';
import { checkCustomHeaders } from '#net/fetch/custom-headers.ts';
import type { CheckRedirect } from '#net/fetch/fetch.ts';
import type { Guard } from '#net/guard/guard.ts';
import { parseProxyUrl } from '#net/proxy/proxy-table.ts';
import type { Robots } from '#net/robots/robots.ts';
import { createTemporaryFolder, type TemporaryFolder } from '#storage/temporary.ts';
import { type Trace, traceIteration, traceStep } from '#telemetry/trace.ts';
import type { SnapshotCache } from './cache/cache.ts';
import type { Captioner } from './captions.ts';
import { parseStorageState } from './engines/browser/storage-state.ts';
import { createCapture, type Engines } from './engines/choose.ts';
import type { Engine } from './engines/engine.ts';
import { createFailureLimit } from './failure-limit.ts';
import {
  drawPage,
  type FileSnapshot,
  type FileTools,
  fileProblem,
  readFileSnapshot,
  SCAN_BOX_PX,
  SCAN_SCALE,
} from './file.ts';
import { type ModelTools, requireModels, writeByModel } from './formats/write-by-model.ts';
import type { Options } from './options/resolve.ts';
import type { RenderLimits, RenderTask } from './render.ts';
import type { Rendition } from './rendition.ts';
import { createRenditionCache } from './renditions.ts';
import type { Snapshot } from './snapshot.ts';
import type { Target } from './target.ts';

export interface ReadRequest {
  readonly target: Target;
  readonly options: Options;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Whether the caller has a key; callers without one have narrower limits. */
  readonly keyed: boolean;
  /** Account of the caller; `undefined` without one. It does not change the result. */
  readonly account?: string | undefined;
  /** Maximum age of a copy, in milliseconds, if neither the options nor the cache's default should decide. */
  readonly freshMs?: number | undefined;
  /** Whether to return the links of the whole page, for crawling on. */
  readonly pageLinks?: boolean | undefined;
  /**
   * Called before a redirect or link of a page is followed during a fetch; throwing ends the read. Such a read
   * does not share the work of other reads. For browser reads it is called once, with the final URL.
   */
  readonly checkRedirect?: CheckRedirect | undefined;
  /** Trace of this read; absent if it is not traced. */
  readonly trace?: Trace | undefined;
}

export interface Reader {
  /** Renditions of the target, each more complete than the last; at least one, unless it throws a Problem. */
  each(request: ReadRequest): AsyncGenerator<Rendition>;
  /** The final rendition. */
  last(request: ReadRequest): Promise<Rendition>;
}

export interface ReaderParts extends Engines {
  readonly guard: Pick<Guard, 'checkUrl'>;
  readonly cache: SnapshotCache;
  readonly robots: Robots;
  readonly files: FileTools;
  /** Models that write answers. */
  readonly writers: ModelTools;
  /** Absent without a vision model. */
  readonly captioner?: Captioner | undefined;
  readonly limits: ReaderLimits;
  /** Parent folder of the files of a read, which are removed at its end. */
  readonly temporaryDir: string;
}

export interface ReaderLimits extends RenderLimits {
  /** `maxElements` for callers without a key. */
  readonly maxElementsKeyless: number;
}

export function createReader(parts: ReaderParts): Reader {
  const failures = createFailureLimit();
  const renditions = createRenditionCache();
  const capture = createCapture(parts);
  const { browser, cache, robots, writers, captioner, renderer } = parts;
  const files: FileTools = { ...parts.files, ...(browser && { shoot: createShoot(browser) }) };

  /** Snapshots of the engines; a target that is a file is read as a document. */
  async function* live(request: ReadRequest, folder: TemporaryFolder): AsyncGenerator<Snapshot> {
    const { target, options, signal } = request;
    const deadline = options.timeoutMs === undefined ? undefined : performance.now() + options.timeoutMs;
    const read = (snapshot: FileSnapshot) =>
      traceStep('document', request.trace, () =>
        readFileSnapshot({ snapshot, target, options, signal, deadline }, files),
      );
    if (target.upload) return yield await read(await writeUpload(target, await folder.path()));
    for await (const snapshot of capture(request, folder.path)) {
      yield isFile(snapshot) ? await read(snapshot) : snapshot;
    }
  }

  async function* withFolder<T>(work: (folder: TemporaryFolder) => AsyncGenerator<T>): AsyncGenerator<T> {
    const folder = createTemporaryFolder(parts.temporaryDir);
    try {
      yield* work(folder);
    } finally {
      await folder.remove();
    }
  }

  /** Snapshots from the cache, else live. Formats whose model reads the target itself need it live. */
  function snapshots(request: ReadRequest, folder: TemporaryFolder): AsyncGenerator<Snapshot> {
    const { modelFormat } = request.options;
    if (modelFormat && modelFormat !== 'readerlm-v2') return live(request, folder);
    return cache.getOrRead(request, (shared) => withFolder((own) => live(shared, own)));
  }

  /** Throws problems that are certain before the read: invalid options, missing models, refused targets. */
  async function assertAllowed({ target, options, signal, keyed, trace }: ReadRequest): Promise<void> {
    if (!target.given && !target.upload) {
      // Before the cache: no copy is served for a refused URL.
      parts.guard.checkUrl(new URL(target.url));
      failures.check(target.url);
      parts.abuse?.check(target.url, keyed);
    }
    requireModels(options, writers);
    const { robotsTxt, proxyUrl, skipCertVerification, zeroDataRetention, customHeader, storageState, jsonSchema } =
      options;
    checkCustomHeaders(customHeader);
    const proxy = proxyUrl === undefined ? undefined : parseProxyUrl(proxyUrl);
    if (storageState !== undefined) parseStorageState(storageState);
    if (jsonSchema) await writers.renderer.checkJson(jsonSchema, undefined, signal);
    if (!robotsTxt || target.given || target.upload) return;
    const asked = { signal, proxy, acceptInvalidCertificates: skipCertVerification, zeroDataRetention };
    await traceStep('robots', trace, () => robots.check(target.url, robotsTxt, asked));
  }

  function taskOf(snapshot: Snapshot, { target, options, keyed, pageLinks }: ReadRequest): RenderTask {
    const { maxElements, maxElementsKeyless, ...limits } = parts.limits;
    const most = { ...limits, maxElements: keyed ? maxElements : maxElementsKeyless };
    const isGiven = target.given !== undefined || target.upload !== undefined;
    return {
      snapshot,
      options,
      requestedUrl: target.url,
      limits: most,
      ...(pageLinks && { pageLinks }),
      ...(isGiven && { isGiven }),
      ...(!keyed && { isKeyless: true }),
    };
  }

  async function render(snapshot: Snapshot, request: ReadRequest): Promise<Rendition> {
    const task = taskOf(snapshot, request);
    const rendition = await renditions.getOrRender(task, () => renderer.render(task, request.signal, request.trace));
    assertBudget(rendition, request.options);
    return rendition;
  }

  /**
   * The rendition again, with captions for its images if they were requested; `undefined` if there is nothing to add.
   */
  async function captioned(
    snapshot: Snapshot,
    { uncaptioned }: Rendition,
    request: ReadRequest,
  ): Promise<Rendition | undefined> {
    const { options, signal } = request;
    if (!captioner || !uncaptioned?.length || !options.retainImages.endsWith('_p')) return undefined;
    const asked = { options, url: snapshot.url, signal };
    const captions = await traceStep('model', request.trace, () => captioner.captionsFor(uncaptioned, asked));
    if (!captions.size) return undefined;
    const task = { ...taskOf(snapshot, request), captions: Object.fromEntries(captions) };
    const rendition = await renderer.render(task, signal, request.trace);
    assertBudget(rendition, options);
    return rendition;
  }

  async function* byModel(
    snapshot: Snapshot,
    request: ReadRequest,
    { streaming }: { streaming: boolean },
  ): AsyncGenerator<Rendition> {
    const { signal, options, target } = request;
    const { file, text: html, document } = snapshot;
    const fit = { width: SCAN_BOX_PX, height: SCAN_BOX_PX };
    const first = document?.page ?? 1;
    const pictureOf =
      file &&
      (async (page: number) => {
        // The browser draws the whole document, so only once.
        const tools = page === first ? files : { ...files, shoot: undefined };
        return drawPage({ file, html, options, signal }, { page, scale: SCAN_SCALE, fit }, tools).catch((error) => {
          throw fileProblem(error, target);
        });
      });
    const writing = writeByModel({ task: taskOf(snapshot, request), pictureOf, streaming, signal }, writers);
    for await (const rendition of traceIteration('model', request.trace, writing)) {
      assertBudget(rendition, options);
      yield rendition;
    }
  }

  /** All renditions with `streaming`, else only those that the answer needs. */
  async function* answers(request: ReadRequest, streaming: boolean): AsyncGenerator<Rendition> {
    const { options, target } = request;
    try {
      await assertAllowed(request);
      yield* withFolder(async function* (folder) {
        let latest: Snapshot | undefined;
        let shown: Rendition | undefined;
        for await (const snapshot of snapshots(request, folder)) {
          latest = snapshot;
          if (!streaming || options.modelFormat) continue;
          assertStatus(snapshot, options);
          shown = await render(snapshot, request);
          yield shown;
        }
        if (!latest) throw problem('AssertionFailureError', { message: 'The page returned no content' });
        request.trace?.fact('engine', latest.engine);
        assertStatus(latest, options);
        if (options.modelFormat) return yield* byModel(latest, request, { streaming });
        const last = shown ?? (await render(latest, request));
        const better = await captioned(latest, last, request);
        if (better || !shown) yield better ?? last;
      });
    } catch (error) {
      if (isFailedTarget(error, request)) failures.add(target.url, error);
      throw error;
    }
  }

  return {
    each: (request) => answers(request, true),
    async last(request) {
      let latest: Rendition | undefined;
      for await (const rendition of answers(request, false)) latest = rendition;
      return latest!;
    },
  };
}

const SHOT_TIMEOUT_MS = 15_000;

/** Screenshots of HTML made from a file that cannot be drawn directly. */
const createShoot =
  (browser: Engine): NonNullable<FileTools['shoot']> =>
  async (html, options, signal) => {
    let picture: Uint8Array | undefined;
    const deadline = performance.now() + (options.timeoutMs ?? SHOT_TIMEOUT_MS);
    const visit = { url: 'about:blank', html, options, deadline, signal, keyed: true, folder: noFolder };
    for await (const { pageshot, screenshot } of browser.visit(visit)) picture = pageshot ?? screenshot ?? picture;
    return picture;
  };

const noFolder = async (): Promise<string> => {
  throw problem('InternalError');
};

/**
 * Whether the target itself failed. A problem that names an option, or a read with the caller's own cookies, scripts
 * and the like, does not count: no caller can block a URL for others.
 */
function isFailedTarget(error: unknown, { target, options }: ReadRequest): error is Problem {
  if (!(error instanceof Problem) || error.name !== 'AssertionFailureError' || target.given || target.upload)
    return false;
  const { path } = error.facts;
  return (path === undefined || path === 'url') && CALLER_INPUTS.every((name) => !isSet(options[name]));
}

const CALLER_INPUTS = [
  'setCookies',
  'customHeader',
  'storageState',
  'preloadUrl',
  'proxyUrl',
  'injectPageScript',
  'injectFrameScript',
  'viewport',
  'timeoutMs',
] as const satisfies (keyof Options)[];

const isSet = (value: unknown): boolean => (Array.isArray(value) ? value.length > 0 : value !== undefined);

const isFile = (snapshot: Snapshot): snapshot is FileSnapshot => snapshot.file !== undefined;

/** A file that came with the request, written to disk for the document reader. */
async function writeUpload({ url, upload }: Target, folder: string): Promise<FileSnapshot> {
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
    message: `The answer costs ${tokens} tokens; tokenBudget is ${tokenBudget}`,
  });
}
