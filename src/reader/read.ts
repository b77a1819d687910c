/**
 * The pipeline of a read. Start with this file. An engine yields snapshots, each more complete than the one before. A
 * worker thread turns each snapshot into a rendition. The last rendition is the result.
 */
import { problem } from '#errors.ts';
import type { CheckRedirect } from '#net/fetch/fetch.ts';
import type { Guard } from '#net/guard/guard.ts';
import type { Robots } from '#net/robots/robots.ts';
import type { SharedStore } from '#storage/shared/values.ts';
import { createTemporaryFolder, type TemporaryFolder } from '#storage/temporary.ts';
import { type Trace, traceStep } from '#telemetry/trace.ts';
import { type BlockedKind, GENERIC } from './blocked/blocked.ts';
import type { SnapshotCache } from './cache/cache.ts';
import type { Captioner } from './captions.ts';
import { createCapture, type Engines } from './engines/choose.ts';
import { createFailureLimit } from './failure-limit.ts';
import { type FileSnapshot, type FileTools, readFileSnapshot } from './file.ts';
import type { ModelTools } from './formats/write-by-model.ts';
import { type Options, withoutDescriptions, withoutModel } from './options/resolve.ts';
import type { PictureUrls } from './places/served-pictures.ts';
import { assertAllowed, isFailedTarget } from './read-checks.ts';
import type { DetailLevel, Rendition } from './rendition.ts';
import { createShoot } from './shoot.ts';
import type { Snapshot } from './snapshot.ts';
import { createSnapshotRenderer, type ReaderLimits } from './snapshot-renderer.ts';
import type { Target } from './target.ts';
import { writeUpload } from './write-upload.ts';

export interface ReadRequest {
  readonly target: Target;
  readonly options: Options;
  /** Aborted when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Whether the caller has a key; callers without a key have stricter limits. */
  readonly keyed: boolean;
  /** Account of the caller; `undefined` if there is none. It does not affect the result. */
  readonly account?: string | undefined;
  /** Maximum age of a cached copy if the options set none, in milliseconds; used instead of the cache's default. */
  readonly freshMs?: number | undefined;
  /** Whether to return the links of the whole page, for a crawl. */
  readonly pageLinks?: boolean | undefined;
  /** Whether to return the places of the blocks of a document. */
  readonly blockPlaces?: boolean | undefined;
  /** Whether to return facts about the response, and with `html` the HTML of the content too. */
  readonly details?: DetailLevel | undefined;
  /**
   * Whether only the content and the metadata are needed. A target that came with the request is then not examined for
   * signs that it stands in place of the content, and the rendition has no body, no warnings and 0 tokens.
   */
  readonly contentOnly?: boolean | undefined;
  /** Whether to return the elements of the content: headings, paragraphs, tables, pictures. */
  readonly elements?: boolean | undefined;
  /** Set if the pictures of a document can be served to the caller. */
  readonly pictureUrls?: PictureUrls | undefined;
  /**
   * Called during a fetch before a redirect or link of a page is followed; throwing ends the read. The read then shares
   * no work with other reads. For browser reads, the function is called once, with the final URL.
   */
  readonly checkRedirect?: CheckRedirect | undefined;
  /** `eu`: the read uses only services inside the EU, and shares no work with reads that may use other services. */
  readonly region?: 'eu' | undefined;
  /** Trace of this read; absent if it is not traced. */
  readonly trace?: Trace | undefined;
}

export interface Reader {
  /**
   * Yields renditions of the target, each more complete than the one before; yields at least one, unless it throws a
   * Problem.
   */
  each(request: ReadRequest): AsyncGenerator<Rendition>;
  /** Returns the final rendition. */
  last(request: ReadRequest): Promise<Rendition>;
}

export interface ReaderParts extends Engines {
  readonly guard: Pick<Guard, 'checkUrl'>;
  readonly cache: SnapshotCache;
  readonly robots: Robots;
  readonly files: FileTools;
  /** Generative models that write results. */
  readonly writers: ModelTools;
  /** Absent without a vision model. */
  readonly captioner?: Captioner | undefined;
  readonly limits: ReaderLimits;
  /** Called once for each read whose answer is not the content. */
  readonly onBlocked?: ((kind: BlockedKind) => void) | undefined;
  /** Counts the failures of URLs, for all servers. */
  readonly failures: SharedStore;
  /** Parent folder for the temporary files of reads, which are removed at the end of each read. */
  readonly temporaryDir: string;
}

export function createReader(parts: ReaderParts): Reader {
  const failures = createFailureLimit(parts.failures);
  const capture = createCapture(parts);
  const { browser, cache, renderer, limits, writers, captioner, onBlocked } = parts;
  const files: FileTools = { ...parts.files, ...(browser && { shoot: createShoot(browser) }) };
  const rendering = createSnapshotRenderer({ renderer, limits, files, writers, captioner });

  /** Yields snapshots from the engines; a target that is a file is read as a document. */
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

  /**
   * Yields snapshots from the cache, or else from a live read. Formats with a model that reads the target itself need a
   * live read.
   */
  function snapshots(request: ReadRequest, folder: TemporaryFolder): AsyncGenerator<Snapshot> {
    const { modelFormat } = request.options;
    if (modelFormat && modelFormat !== 'readerlm-v2') return live(request, folder);
    return cache.getOrRead(request, (shared) => withFolder((own) => live(shared, own)));
  }

  /** With `streaming`, yields all renditions; otherwise only those that the result needs. */
  async function* answers(asked: ReadRequest, streaming: boolean): AsyncGenerator<Rendition> {
    const request = captioner ? asked : { ...asked, options: withoutDescriptions(asked.options) };
    const { options, target } = request;
    try {
      await assertAllowed(request, parts, failures);
      yield* withFolder(async function* (folder) {
        let latest: Snapshot | undefined;
        let shown: Rendition | undefined;
        for await (const snapshot of snapshots(request, folder)) {
          latest = snapshot;
          if (!streaming || options.modelFormat) continue;
          // A later snapshot may show the content.
          if (snapshot.blocked && options.assertNotBlocked) continue;
          assertStatus(snapshot, options);
          shown = await rendering.render(snapshot, request);
          yield shown;
        }
        if (!latest) throw problem('AssertionFailureError', { message: 'The page returned no content' });
        request.trace?.fact('engine', latest.engine);
        assertStatus(latest, options);
        if (latest.blocked) onBlocked?.(latest.blocked.kind);
        assertNotBlocked(latest, options);
        // Models do not read what is not the content.
        if (latest.blocked && options.modelFormat)
          return yield await rendering.render(latest, { ...request, options: withoutModel(options) });
        if (options.modelFormat) return yield* rendering.renderByModel(latest, request, { streaming });
        const last = shown ?? (await rendering.render(latest, request));
        const better = latest.blocked ? undefined : await rendering.addCaptions(latest, last, request);
        if (better || !shown) yield better ?? last;
      });
    } catch (error) {
      if (isFailedTarget(error, request)) await failures.add(target.url, error);
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

const isFile = (snapshot: Snapshot): snapshot is FileSnapshot => snapshot.file !== undefined;

function assertNotBlocked({ blocked, status, tried, engine }: Snapshot, options: Options): void {
  if (!blocked || !options.assertNotBlocked) return;
  const by = blocked.by === GENERIC ? '' : ` by ${blocked.by}`;
  throw problem('BlockedPageError', {
    path: 'assertNotBlocked',
    blocked,
    targetStatus: status,
    tried: tried ?? [engine],
    message: `The target sent ${blocked.kind}${by} in place of the content`,
  });
}

function assertStatus(snapshot: Snapshot, { assertStatusCode }: Options): void {
  if (assertStatusCode === undefined || snapshot.status === assertStatusCode) return;
  throw problem('AssertionFailureError', {
    path: 'assertStatusCode',
    message: `The page answered with status ${snapshot.status}, not ${assertStatusCode}`,
  });
}
