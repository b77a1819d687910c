/**
 * Results written by a model instead of the Markdown conversion: vlm, readerlm-v2, svc-ocr
 * (docs/reference/wire/reader.md, Formats).
 */
import { problem } from '#errors.ts';
import type { Chat, ChatMessage, ChatRequest, Models } from '#models/index.ts';
import type { Ocr } from '#ocr/index.ts';
import type { Options } from '../options/resolve.ts';
import { unusedOptions } from '../options/unused.ts';
import type { RenderTask } from '../render.ts';
import type { Renderer } from '../renderer.ts';
import type { Rendition } from '../rendition.ts';
import { warningsFor } from '../warnings.ts';
import { unwrapOutput } from './clean-output.ts';
import type { ModelInput } from './model-input.ts';
import type { ModelOutputTask } from './model-output.ts';
import { OCR_SETTINGS, READERLM_SETTINGS, VISION_SETTINGS } from './model-settings.ts';
import {
  OCR_INSTRUCTION,
  picturePart,
  picturePrompt,
  readerlmPrompt,
  repairPrompt,
  textPart,
  visionPrompt,
} from './prompts.ts';
import { computeTiles } from './tiles.ts';

export interface ModelTools {
  readonly models: Models;
  /** Text recognition without a model; absent if it is disabled. */
  readonly ocr?: Ocr | undefined;
  /** Maximum number of pages of a document to recognize. */
  readonly ocrMaxPages: number;
  readonly renderer: Pick<Renderer, 'modelInput' | 'renderModelOutput' | 'checkJson'>;
  /** Price factor of these results. */
  readonly chargeFactor: number;
}

export interface ModelRead {
  readonly task: RenderTask;
  /**
   * Renders a page of the document, or the image, as PNG. Absent for web pages, because their pictures are in the
   * snapshot.
   */
  readonly pictureOf?: ((page: number) => Promise<Uint8Array | undefined>) | undefined;
  /** Whether to yield intermediate results. */
  readonly streaming: boolean;
  readonly signal: AbortSignal;
}

/** Minimum interval between intermediate results. */
const MIN_INTERVAL_MS = 300;

/**
 * Checks before the read that every model that the options need is configured and available. Throws
 * DownstreamServiceFailureError; if a model is not configured, its path is `respondWith`.
 */
export function requireModels(
  { modelFormat, retainImages, formats }: Options,
  { models, ocr }: Pick<ModelTools, 'models' | 'ocr'>,
): void {
  const demand = (model: Chat | undefined, path: string, what: string, settings: string) => {
    if (!model) throw missing(path, what, settings);
    model.check?.();
  };
  if (modelFormat === 'vlm') demand(models.vision, 'respondWith', 'vlm', VISION_SETTINGS);
  if (modelFormat === 'readerlm-v2') demand(models.readerlm, 'respondWith', 'readerlm-v2', READERLM_SETTINGS);
  if (modelFormat?.startsWith('svc-ocr') && (models.ocr || !ocr))
    demand(models.ocr, 'respondWith', modelFormat, OCR_SETTINGS);
  const writes = formats.has('content') || formats.has('markdown') || formats.has('frontmatter');
  // Without a vision model, the result has a warning instead (`withoutDescriptions`).
  if (retainImages.endsWith('_p') && writes) models.vision?.check?.();
}

const missing = (path: string, what: string, settings: string) =>
  problem('DownstreamServiceFailureError', { path, message: `${what} needs ${settings}; none is configured` });

/** Yields renditions as the result grows; the last one is complete. Without `streaming`, yields only the last one. */
export async function* writeByModel(read: ModelRead, tools: ModelTools): AsyncGenerator<Rendition> {
  const { task, signal } = read;
  const { options } = task;
  requireModels(options, tools);
  const modelInput = await tools.renderer.modelInput(task, signal);
  if (options.modelFormat === 'readerlm-v2' && !modelInput.html) {
    throw problem('AssertionFailureError', { message: 'The page has no text for a model to read' });
  }
  const answers = writeAnswer(read, modelInput, tools);
  const { stale, cachedAt } = task.snapshot;
  const staleAt = stale ? cachedAt : undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  for await (const { done, ...written } of answers) {
    if (!done && (!read.streaming || performance.now() - shownAt < MIN_INTERVAL_MS)) continue;
    shownAt = performance.now();
    const notes = [...pageWarnings(task), ...written.notes];
    const answer = await tools.renderer.renderModelOutput(
      { ...answerBase(modelInput, task, tools), ...written, notes },
      signal,
    );
    yield { ...answer, ...responseFacts(task), staleAt };
  }
}

type Written = Pick<ModelOutputTask, 'text' | 'form' | 'notes'> & { readonly done: boolean };

const answerBase = (
  { title, description, url }: ModelInput,
  { snapshot, options, limits, isGiven }: RenderTask,
  tools: ModelTools,
) => ({
  head: {
    title,
    description,
    url,
    ...(!isGiven && { targetStatus: snapshot.status }),
    ...(options.exportStorageState && snapshot.storageState && { storageState: snapshot.storageState }),
  },
  style: options.markdown,
  maxTokens: options.maxTokens,
  // If several factors apply, the last one in the list is used: that of the proxy (docs/reference/wire/reader.md,
  // Tokens and charge).
  chargeFactor: snapshot.proxied ? limits.proxyFactor : tools.chargeFactor,
});

/** Warnings about the page itself: an error status, partial content. */
const pageWarnings = (task: RenderTask): string[] =>
  warningsFor(task.snapshot, {
    contentTokens: undefined,
    hiddenCount: 0,
    complete: true,
    source: 'page',
    waits: false,
    unused: unusedOptions(task),
  });

const responseFacts = ({ snapshot: { status, noStore, robotsTag, retryAfter } }: RenderTask) => ({
  status,
  noStore,
  ...(robotsTag !== undefined && { robotsTag }),
  ...(retryAfter !== undefined && { retryAfter }),
});

function writeAnswer(read: ModelRead, modelInput: ModelInput, tools: ModelTools): AsyncGenerator<Written> {
  const { options } = read.task;
  if (options.modelFormat === 'vlm') return writeByVision(read, modelInput, tools);
  if (options.modelFormat !== 'readerlm-v2') return writeByRecognition(read, tools);
  return options.jsonSchema
    ? writeJson(read, modelInput, tools, options.jsonSchema)
    : writeByReaderlm(read, modelInput, tools);
}

const CUT = 'This page is longer than the input of the model, its end was left out.';
const UNFINISHED = 'The model stopped before its answer was complete.';

async function* writeByReaderlm(
  { task, signal, streaming }: ModelRead,
  { html, cut }: ModelInput,
  { models }: ModelTools,
) {
  const content = readerlmPrompt(html, task.options.instruction, undefined);
  yield* streamText(
    models.readerlm!,
    { messages: [{ role: 'user', content }], temperature: 0, signal },
    cut,
    streaming,
  );
}

async function* writeByVision(read: ModelRead, { html, cut }: ModelInput, { models }: ModelTools) {
  const { task, signal, streaming } = read;
  const picture = await firstPicture(read);
  const content = [textPart(visionPrompt(html, task.options.instruction)), ...(picture ? [picturePart(picture)] : [])];
  yield* streamText(models.vision!, { messages: [{ role: 'user', content }], temperature: 0, signal }, cut, streaming);
}

async function firstPicture({ task: { snapshot }, pictureOf }: ModelRead): Promise<Uint8Array | undefined> {
  return snapshot.screenshot ?? snapshot.pageshot ?? (await pictureOf?.(snapshot.document?.page ?? 1));
}

async function* streamText(
  chat: Chat,
  request: ChatRequest,
  cut: boolean,
  streaming: boolean,
): AsyncGenerator<Written> {
  const notes = cut ? [CUT] : [];
  const form = 'markdown';
  if (!streaming) {
    const { text, complete } = await chat.complete(request);
    return yield { text, form, notes: complete ? notes : [...notes, UNFINISHED], done: true };
  }
  let text = '';
  for await (const delta of chat.stream(request)) {
    if ('end' in delta) yield { text, form, notes: delta.end.complete ? notes : [...notes, UNFINISHED], done: true };
    else {
      text += delta.text;
      yield { text, form, notes, done: false };
    }
  }
}

/**
 * Returns JSON that conforms to the caller's schema. If the first attempt fails, the model is called once more with the
 * errors.
 */
async function* writeJson(
  { task, signal }: ModelRead,
  { html, cut }: ModelInput,
  { models, renderer }: ModelTools,
  schema: object,
): AsyncGenerator<Written> {
  const messages: ChatMessage[] = [{ role: 'user', content: readerlmPrompt(html, task.options.instruction, schema) }];
  const responseFormat = { type: 'json_schema', json_schema: { name: 'answer', schema } } as const;
  for (let attempt = 1; ; attempt++) {
    const { text } = await models.readerlm!.complete({ messages, temperature: 0, responseFormat, signal });
    const { json, violations } = await renderer.checkJson(schema, text, signal);
    if (json !== undefined && violations.length === 0) {
      return yield { text: json, form: 'json', notes: cut ? [CUT] : [], done: true };
    }
    if (attempt === 2) {
      const message = `The response from the model does not match the schema: ${violations[0]}`;
      throw problem('DownstreamServiceFailureError', { path: 'jsonSchema', message });
    }
    messages.push({ role: 'assistant', content: text }, { role: 'user', content: repairPrompt(violations) });
  }
}

/** The recognized text of each page, separated by blank lines (docs/reference/wire/reader.md, Formats). */
async function* writeByRecognition(read: ModelRead, tools: ModelTools): AsyncGenerator<Written> {
  const form = tools.models.ocr ? 'markdown' : 'html';
  const texts: string[] = [];
  const notes: string[] = [];
  for await (const picture of picturesToRecognize(read, tools, notes)) {
    const { text, complete } = await recognize(picture, read, tools);
    if (text) texts.push(unwrapOutput(text));
    if (!complete && !notes.includes(UNFINISHED)) notes.push(UNFINISHED);
    yield { text: texts.join('\n\n'), form, notes: [...notes], done: false };
  }
  yield { text: texts.join('\n\n'), form, notes, done: true };
}

/** The pictures to recognize: pages of a document, or the whole web page, in tiles if a model reads them. */
async function* picturesToRecognize(read: ModelRead, tools: ModelTools, notes: string[]): AsyncGenerator<Uint8Array> {
  const { document, pageshot, screenshot } = read.task.snapshot;
  if (!document) {
    const whole = pageshot ?? screenshot;
    if (!whole) throw missingPicture();
    if (tools.models.ocr) yield* computeTiles(whole);
    else yield whole;
    return;
  }
  const { pageCount = 1, page } = document;
  const pages = page === undefined ? Math.min(pageCount, Math.max(tools.ocrMaxPages, 1)) : 1;
  if (page === undefined && pageCount > pages) {
    notes.push(`This document has ${pageCount} pages, only the first ${pages} were recognized.`);
  }
  for (let at = 0; at < pages; at++) {
    const picture = await read.pictureOf?.((page ?? 1) + at);
    // The document was rendered as a whole, because it could not be rendered page by page.
    if (!picture && at > 0) return;
    if (!picture) throw missingPicture();
    yield picture;
  }
}

const missingPicture = () =>
  problem('AssertionFailureError', { message: 'No image of the target is available for text recognition' });

async function recognize(picture: Uint8Array, { signal }: ModelRead, { models, ocr }: ModelTools) {
  if (models.ocr) {
    const content = [textPart(picturePrompt(OCR_INSTRUCTION)), picturePart(picture)];
    return await models.ocr.complete({ messages: [{ role: 'user', content }], temperature: 0, signal });
  }
  const { html } = await ocr!.read(picture, { signal });
  return { text: html, complete: true };
}
