/**
 * Turns snapshots into renditions: in a worker thread, with captions for images, or with a model that writes the
 * result.
 */
import { traceIteration, traceStep } from '#telemetry/trace.ts';
import type { Captioner } from './captions.ts';
import type { Engines } from './engines/choose.ts';
import { drawPage, type FileTools, fileProblem, SCAN_BOX_PX, SCAN_SCALE } from './file.ts';
import { type ModelTools, writeByModel } from './formats/write-by-model.ts';
import type { ReadRequest } from './read.ts';
import type { RenderLimits, RenderTask } from './render.ts';
import type { Rendition } from './rendition.ts';
import { createRenditionCache } from './renditions.ts';
import type { Snapshot } from './snapshot.ts';
import { assertBudget } from './token-budget.ts';

export interface ReaderLimits extends RenderLimits {
  /** The `maxElements` limit for callers without a key. */
  readonly maxElementsKeyless: number;
}

export interface SnapshotRendererParts {
  readonly renderer: Engines['renderer'];
  readonly limits: ReaderLimits;
  readonly files: FileTools;
  readonly writers: ModelTools;
  readonly captioner?: Captioner | undefined;
}

/** All functions throw BudgetExceededError if a rendition has more tokens than the options allow. */
export interface SnapshotRenderer {
  render(snapshot: Snapshot, request: ReadRequest): Promise<Rendition>;
  /**
   * Returns the rendition with captions for its images, if they were requested; `undefined` if there is nothing to add.
   */
  addCaptions(snapshot: Snapshot, rendition: Rendition, request: ReadRequest): Promise<Rendition | undefined>;
  /**
   * Yields renditions written by the model of the requested format. With `streaming`, each rendition is longer than the
   * one before.
   */
  renderByModel(snapshot: Snapshot, request: ReadRequest, how: { streaming: boolean }): AsyncGenerator<Rendition>;
}

export function createSnapshotRenderer(parts: SnapshotRendererParts): SnapshotRenderer {
  const { renderer, files, writers, captioner } = parts;
  const renditions = createRenditionCache();

  function taskOf(
    snapshot: Snapshot,
    { target, options, keyed, pageLinks, blockPlaces, details, contentOnly, elements, pictureUrls }: ReadRequest,
  ): RenderTask {
    const { maxElements, maxElementsKeyless, ...limits } = parts.limits;
    const most = { ...limits, maxElements: keyed ? maxElements : maxElementsKeyless };
    const isGiven = target.given !== undefined || target.upload !== undefined;
    return {
      snapshot,
      options,
      requestedUrl: target.url,
      limits: most,
      ...(pageLinks && { pageLinks }),
      ...(blockPlaces && { blockPlaces }),
      ...(details && { details }),
      ...(contentOnly && { contentOnly }),
      ...(elements && { elements }),
      ...(pictureUrls && { pictureUrls }),
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

  async function addCaptions(
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

  async function* renderByModel(
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
        // The browser renders the whole document at once, so it is called only once.
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

  return { render, addCaptions, renderByModel };
}
