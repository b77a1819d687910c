/**
 * Alternative texts by a vision model, for the pictures of an answer that have none (contract, section 6.2). Pictures
 * are fetched like everything else a page names; what was said of a picture is remembered by the picture's bytes.
 */
import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { Chat } from '#models/index.ts';
import type { GuardedFetch } from '#net/fetch/fetch.ts';
import { describeImage, type Picture } from './formats/describe-image.ts';
import { CAPTION_INSTRUCTION } from './formats/prompts.ts';
import { oneLine } from './markdown/one-line.ts';
import type { UncaptionedImage } from './markdown/to-markdown.ts';
import type { Options } from './options/resolve.ts';

export interface CaptionerParts {
  readonly vision: Chat;
  readonly fetch: GuardedFetch;
  /**
   * A picture as PNG, fitted into `box` x `box` pixels, with its size before. Decoding is for a place that can be ended.
   * Throws when it is no picture that can be shown.
   */
  readonly fitPicture: (bytes: Uint8Array, contentType: string, box: number, signal: AbortSignal) => Promise<Picture>;
}

export interface CaptionOptions {
  readonly options: Pick<Options, 'zeroDataRetention' | 'doNotTrack' | 'skipCertVerification' | 'timeoutMs'>;
  /** The page of the pictures. */
  readonly url: string;
  readonly signal: AbortSignal;
}

export interface Captioner {
  /**
   * What each picture shows, by the address it is shown under. Pictures that cannot be had or described are missing.
   * Throws only the reason of the signal.
   */
  captionsFor(images: readonly UncaptionedImage[], options: CaptionOptions): Promise<Map<string, string>>;
}

const MOST_IMAGES = 50;
const AT_ONCE = 4;
/** What is not described by then, or within the caller's own limit, keeps its alternative text. */
const ALL_WITHIN_MS = 90_000;
const MAX_IMAGE_BYTES = 10_000_000;
const FETCH_MS = 10_000;
/** The side of what the model sees, in pixels. */
const BOX = 1_024;
const MAX_CAPTION_CHARACTERS = 500;
const REMEMBERED = 10_000;
const RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

export function createCaptioner(parts: CaptionerParts): Captioner {
  const known = createMemory<string>();
  const failed = createMemory<number>();

  /** What is remembered of a picture, by its bytes or, when those could not be had, by its address. */
  const hasFailed = (key: string) => performance.now() - (failed.get(key) ?? Number.NEGATIVE_INFINITY) < RETRY_AFTER_MS;

  async function caption({ source }: UncaptionedImage, asked: CaptionOptions): Promise<string | undefined> {
    const keeps = !asked.options.zeroDataRetention && !asked.options.doNotTrack;
    let key = hashOf(source);
    if (hasFailed(key)) return undefined;
    try {
      const { bytes, contentType } = await bytesOf(source, asked, parts.fetch);
      key = hashOf(bytes);
      const before = known.get(key);
      if (before !== undefined) return before;
      if (hasFailed(key)) return undefined;
      const text = await described(await parts.fitPicture(bytes, contentType, BOX, asked.signal), asked, parts.vision);
      if (!text) throw new Error('the model said nothing');
      if (keeps) known.set(key, text);
      return text;
    } catch {
      // Whoever has gone says nothing about the picture.
      if (keeps && !asked.signal.aborted) failed.set(key, performance.now());
      return undefined;
    }
  }

  return {
    async captionsFor(images, { signal, ...asked }) {
      const captions = new Map<string, string>();
      const over = new AbortController();
      const limited = { ...asked, signal: AbortSignal.any([signal, over.signal]) };
      const queue = images.slice(0, MOST_IMAGES).values();
      const work = async () => {
        for (const image of queue) {
          if (limited.signal.aborted) return;
          const text = await caption(image, limited);
          if (text !== undefined) captions.set(image.url, text);
        }
      };
      const withinMs = Math.min(asked.options.timeoutMs ?? ALL_WITHIN_MS, ALL_WITHIN_MS);
      const timer = delay(withinMs, undefined, { signal: over.signal, ref: false }).catch(() => {});
      await Promise.race([Promise.all(Array.from({ length: AT_ONCE }, work)), timer]);
      over.abort();
      signal.throwIfAborted();
      return captions;
    },
  };
}

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('base64');

async function described(picture: Picture, { signal }: CaptionOptions, vision: Chat): Promise<string> {
  const text = await describeImage(picture, { vision, instruction: CAPTION_INSTRUCTION, signal });
  const line = oneLine(text).replace(/^["“](.*)["”]$/, '$1');
  return line.length <= MAX_CAPTION_CHARACTERS ? line : `${line.slice(0, MAX_CAPTION_CHARACTERS).trimEnd()}...`;
}

interface ImageBytes {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

async function bytesOf(
  source: string,
  { url, options, signal }: CaptionOptions,
  fetch: GuardedFetch,
): Promise<ImageBytes> {
  if (/^data:/i.test(source)) return inPage(source);
  const response = await fetch(source, {
    headers: { accept: 'image/*', ...(/^https?:/.test(url) && { referer: `${new URL(url).origin}/` }) },
    signal,
    timeoutMs: FETCH_MS,
    maxBytes: MAX_IMAGE_BYTES,
    acceptInvalidCertificates: options.skipCertVerification,
  });
  const contentType = response.headers['content-type'] ?? '';
  if (response.status !== 200 || /^(?:text|application\/(?:json|xhtml))/i.test(contentType)) {
    response.discard();
    throw new Error('no picture');
  }
  const { bytes, truncated } = await response.collect();
  if (truncated) throw new Error('half a picture');
  return { bytes, contentType };
}

/** A picture that stands in the page itself. */
function inPage(source: string): ImageBytes {
  const comma = source.indexOf(',');
  const head = source.slice('data:'.length, Math.min(comma, 200));
  if (comma < 0 || source.length > MAX_IMAGE_BYTES * 1.4) throw new Error('no picture');
  const body = source.slice(comma + 1);
  const bytes = /;\s*base64\s*$/i.test(head) ? Buffer.from(body, 'base64') : Buffer.from(decodeURIComponent(body));
  return { bytes, contentType: head.split(';', 1)[0]! };
}

/** The newest facts about so many pictures. */
function createMemory<Value>() {
  const entries = new Map<string, Value>();
  return {
    get(key: string): Value | undefined {
      const value = entries.get(key);
      if (value === undefined) return undefined;
      entries.delete(key);
      entries.set(key, value);
      return value;
    },
    set(key: string, value: Value): void {
      entries.delete(key);
      entries.set(key, value);
      if (entries.size > REMEMBERED) entries.delete(entries.keys().next().value!);
    },
  };
}
