/** Answers that a model writes instead of our own Markdown: vlm, readerlm-v2, svc-ocr (contract, section 4). */
import { problem } from '#errors.ts';
import type { Chat, ChatMessage, ChatRequest, Models } from '#models/index.ts';
import type { Ocr } from '#ocr/index.ts';
import type { Options } from '../options/resolve.ts';
import { unusedOptions } from '../options/unused.ts';
import type { RenderTask } from '../render.ts';
import type { Renderer } from '../renderer.ts';
import type { Rendition } from '../rendition.ts';
import { warnings } from '../warnings.ts';
import type { AnswerTask } from './answer.ts';
import type { Material } from './material.ts';
import {
  OCR_INSTRUCTION,
  picturePart,
  picturePrompt,
  readerlmPrompt,
  repairPrompt,
  textPart,
  visionPrompt,
} from './prompts.ts';
import { tiles } from './tiles.ts';
import { withoutWrapping } from './written.ts';

export interface ModelTools {
  readonly models: Models;
  /** Text recognition without a model; absent when it is turned off. */
  readonly ocr?: Ocr | undefined;
  /** How many pages of a document are recognised. */
  readonly ocrMaxPages: number;
  readonly renderer: Pick<Renderer, 'material' | 'answer' | 'checkJson'>;
  /** How many times its tokens an answer is charged. */
  readonly chargeFactor: number;
}

export interface ModelRead {
  readonly task: RenderTask;
  /** A page of the document, or the image, as PNG; absent for web pages, whose pictures the snapshot has. */
  readonly pictureOf?: ((page: number) => Promise<Uint8Array | undefined>) | undefined;
  /** Whether each better state is wanted, or only the last. */
  readonly streaming: boolean;
  readonly signal: AbortSignal;
}

/** How often a growing answer is shown. */
const SHOW_EVERY_MS = 300;

/**
 * Throws what is certain before anything is read: DownstreamServiceFailureError with path `respondWith` (or the option
 * that asks for descriptions) when nothing is configured for what the options ask, or may not be asked.
 */
export function requireModels(
  { modelFormat, retainImages, withGeneratedAlt, formats }: Options,
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
  if (retainImages.endsWith('_p') && writes) {
    const path = withGeneratedAlt ? 'withGeneratedAlt' : 'retainImages';
    demand(models.vision, path, 'A description of images', VISION_SETTINGS);
  }
}

export const VISION_SETTINGS =
  'a vision model, set LECTERN_VISION_URL and LECTERN_VISION_MODEL (or LECTERN_CHAT_URL and LECTERN_CHAT_MODEL)';
const READERLM_SETTINGS =
  'a language model, set LECTERN_READERLM_URL and LECTERN_READERLM_MODEL (or LECTERN_CHAT_URL and LECTERN_CHAT_MODEL)';
const OCR_SETTINGS = 'text recognition, set LECTERN_OCR_URL and LECTERN_OCR_MODEL or LECTERN_TESSERACT';

const missing = (path: string, what: string, settings: string) =>
  problem('DownstreamServiceFailureError', { path, message: `${what} needs ${settings}: nothing is configured` });

/** Growing renditions of what the model writes, the last one complete; without `streaming` that one alone. */
export async function* writeByModel(read: ModelRead, tools: ModelTools): AsyncGenerator<Rendition> {
  const { task, signal } = read;
  const { options } = task;
  requireModels(options, tools);
  const material = await tools.renderer.material(task, signal);
  if (options.modelFormat === 'readerlm-v2' && !material.html) {
    throw problem('AssertionFailureError', { message: 'There is no text on this page for a model to read' });
  }
  const answers = answersTo(read, material, tools);
  const { stale, cachedAt } = task.snapshot;
  const staleAt = stale ? cachedAt : undefined;
  let shownAt = Number.NEGATIVE_INFINITY;
  for await (const { done, ...written } of answers) {
    if (!done && (!read.streaming || performance.now() - shownAt < SHOW_EVERY_MS)) continue;
    shownAt = performance.now();
    const notes = [...saidOf(task), ...written.notes];
    const answer = await tools.renderer.answer({ ...headOf(material, task, tools), ...written, notes }, signal);
    yield { ...answer, ...answeredWith(task), staleAt };
  }
}

type Written = Pick<AnswerTask, 'text' | 'form' | 'notes'> & { readonly done: boolean };

const headOf = (
  { title, description, url }: Material,
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
  // Of several factors the last in the contract's list wins, and that is the proxy's (section 6.9).
  chargeFactor: snapshot.proxied ? limits.proxyFactor : tools.chargeFactor,
});

/** What is to be known of the page itself: that it is an error, or not all of it. */
const saidOf = (task: RenderTask): string[] =>
  warnings(task.snapshot, {
    contentTokens: undefined,
    hiddenCount: 0,
    complete: true,
    source: 'page',
    waits: false,
    unused: unusedOptions(task),
  });

const answeredWith = ({ snapshot: { status, noStore, robotsTag, retryAfter } }: RenderTask) => ({
  status,
  noStore,
  ...(robotsTag !== undefined && { robotsTag }),
  ...(retryAfter !== undefined && { retryAfter }),
});

function answersTo(read: ModelRead, material: Material, tools: ModelTools): AsyncGenerator<Written> {
  const { options } = read.task;
  if (options.modelFormat === 'vlm') return byVision(read, material, tools);
  if (options.modelFormat !== 'readerlm-v2') return byRecognition(read, tools);
  return options.jsonSchema ? structured(read, material, tools, options.jsonSchema) : byReaderlm(read, material, tools);
}

const CUT = 'This page is longer than the model may read, its end was left out.';
const UNFINISHED = 'The model stopped before it had written all.';

async function* byReaderlm({ task, signal, streaming }: ModelRead, { html, cut }: Material, { models }: ModelTools) {
  const content = readerlmPrompt(html, task.options.instruction, undefined);
  yield* growing(models.readerlm!, { messages: [{ role: 'user', content }], temperature: 0, signal }, cut, streaming);
}

async function* byVision(read: ModelRead, { html, cut }: Material, { models }: ModelTools) {
  const { task, signal, streaming } = read;
  const picture = await firstPicture(read);
  const content = [textPart(visionPrompt(html, task.options.instruction)), ...(picture ? [picturePart(picture)] : [])];
  yield* growing(models.vision!, { messages: [{ role: 'user', content }], temperature: 0, signal }, cut, streaming);
}

async function firstPicture({ task: { snapshot }, pictureOf }: ModelRead): Promise<Uint8Array | undefined> {
  return snapshot.screenshot ?? snapshot.pageshot ?? (await pictureOf?.(snapshot.document?.page ?? 1));
}

async function* growing(chat: Chat, request: ChatRequest, cut: boolean, streaming: boolean): AsyncGenerator<Written> {
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

/** JSON by the caller's schema; a model that misses it once is told what is wrong and asked again. */
async function* structured(
  { task, signal }: ModelRead,
  { html, cut }: Material,
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
      const message = `What the model wrote does not keep to the schema: ${violations[0]}`;
      throw problem('DownstreamServiceFailureError', { path: 'jsonSchema', message });
    }
    messages.push({ role: 'assistant', content: text }, { role: 'user', content: repairPrompt(violations) });
  }
}

/** The text of each page, parted by a blank line (contract, section 4). */
async function* byRecognition(read: ModelRead, tools: ModelTools): AsyncGenerator<Written> {
  const form = tools.models.ocr ? 'markdown' : 'html';
  const texts: string[] = [];
  const notes: string[] = [];
  for await (const picture of picturesOf(read, tools, notes)) {
    const { text, complete } = await recognised(picture, read, tools);
    if (text) texts.push(withoutWrapping(text));
    if (!complete && !notes.includes(UNFINISHED)) notes.push(UNFINISHED);
    yield { text: texts.join('\n\n'), form, notes: [...notes], done: false };
  }
  yield { text: texts.join('\n\n'), form, notes, done: true };
}

/** What is to be recognised: the pages of a document, or the whole web page, in pieces when a model is to see them. */
async function* picturesOf(read: ModelRead, tools: ModelTools, notes: string[]): AsyncGenerator<Uint8Array> {
  const { document, pageshot, screenshot } = read.task.snapshot;
  if (!document) {
    const whole = pageshot ?? screenshot;
    if (!whole) throw noPicture();
    if (tools.models.ocr) yield* tiles(whole);
    else yield whole;
    return;
  }
  const { pageCount = 1, page } = document;
  const pages = page === undefined ? Math.min(pageCount, Math.max(tools.ocrMaxPages, 1)) : 1;
  if (page === undefined && pageCount > pages) {
    notes.push(`This document has ${pageCount} pages, only the first ${pages} were recognised.`);
  }
  for (let at = 0; at < pages; at++) {
    const picture = await read.pictureOf?.((page ?? 1) + at);
    // What cannot be drawn page by page was drawn whole.
    if (!picture && at > 0) return;
    if (!picture) throw noPicture();
    yield picture;
  }
}

const noPicture = () =>
  problem('AssertionFailureError', { message: 'There is no picture of this target to recognise text in' });

async function recognised(picture: Uint8Array, { signal }: ModelRead, { models, ocr }: ModelTools) {
  if (models.ocr) {
    const content = [textPart(picturePrompt(OCR_INSTRUCTION)), picturePart(picture)];
    return await models.ocr.complete({ messages: [{ role: 'user', content }], temperature: 0, signal });
  }
  const { html } = await ocr!.read(picture, { signal });
  return { text: html, complete: true };
}
