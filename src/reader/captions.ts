/**
 * Generates alt text with a vision model for images in a response that have none
 * (docs/reference/wire/reader.md, Images). Images are fetched under the same rules as pages. Captions are cached by the
 * hash of the image's bytes.
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
   * Decodes an image, fits it into `box` x `box` pixels and returns it as PNG with its original size. Runs in a process
   * that can be killed. Throws if the bytes are not an image that can be decoded.
   */
  readonly fitPicture: (bytes: Uint8Array, contentType: string, box: number, signal: AbortSignal) => Promise<Picture>;
}

export interface CaptionOptions {
  readonly options: Pick<Options, 'zeroDataRetention' | 'doNotTrack' | 'skipCertVerification' | 'timeoutMs'>;
  /** URL of the page that shows the images. */
  readonly url: string;
  readonly signal: AbortSignal;
}

export interface Captioner {
  /**
   * Returns captions by image URL, as it appears in the response. Images that cannot be fetched or described have no
   * entry. Throws only the reason of the signal.
   */
  captionsFor(images: readonly UncaptionedImage[], options: CaptionOptions): Promise<Map<string, string>>;
}

const MAX_IMAGES = 50;
const CONCURRENCY = 4;
/**
 * Time limit for all images of a response, if the caller sets no shorter timeout. Images without a caption by then keep
 * their alt text.
 */
const TOTAL_MS = 90_000;
const MAX_IMAGE_BYTES = 10_000_000;
const FETCH_MS = 10_000;
/** Size of the box, in pixels, into which an image is scaled for the model. */
const BOX_PIXELS = 1_024;
const MAX_CAPTION_CHARACTERS = 500;
const MAX_REMEMBERED = 10_000;
const RETRY_AFTER_MS = 24 * 60 * 60 * 1000;

export function createCaptioner(parts: CaptionerParts): Captioner {
  const known = createRecentMap<string>();
  const failed = createRecentMap<number>();

  /** `key` is the hash of the image's bytes or, if it could not be fetched, of its URL. */
  const hasFailed = (key: string) => performance.now() - (failed.get(key) ?? Number.NEGATIVE_INFINITY) < RETRY_AFTER_MS;

  async function caption({ source }: UncaptionedImage, asked: CaptionOptions): Promise<string | undefined> {
    const keeps = !asked.options.zeroDataRetention && !asked.options.doNotTrack;
    let key = hashOf(source);
    if (hasFailed(key)) return undefined;
    try {
      const { bytes, contentType } = await fetchImage(source, asked, parts.fetch);
      key = hashOf(bytes);
      const before = known.get(key);
      if (before !== undefined) return before;
      if (hasFailed(key)) return undefined;
      const text = await describe(
        await parts.fitPicture(bytes, contentType, BOX_PIXELS, asked.signal),
        asked,
        parts.vision,
      );
      if (!text) throw new Error('the model returned no text');
      if (keeps) known.set(key, text);
      return text;
    } catch {
      // An aborted request does not mean that the image is bad.
      if (keeps && !asked.signal.aborted) failed.set(key, performance.now());
      return undefined;
    }
  }

  return {
    async captionsFor(images, { signal, ...asked }) {
      const captions = new Map<string, string>();
      const over = new AbortController();
      const limited = { ...asked, signal: AbortSignal.any([signal, over.signal]) };
      const queue = images.slice(0, MAX_IMAGES).values();
      const work = async () => {
        for (const image of queue) {
          if (limited.signal.aborted) return;
          const text = await caption(image, limited);
          if (text !== undefined) captions.set(image.url, text);
        }
      };
      const withinMs = Math.min(asked.options.timeoutMs ?? TOTAL_MS, TOTAL_MS);
      const timer = delay(withinMs, undefined, { signal: over.signal, ref: false }).catch(() => {});
      await Promise.race([Promise.all(Array.from({ length: CONCURRENCY }, work)), timer]);
      over.abort();
      signal.throwIfAborted();
      return captions;
    },
  };
}

const hashOf = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('base64');

async function describe(picture: Picture, { signal }: CaptionOptions, vision: Chat): Promise<string> {
  const text = await describeImage(picture, { vision, instruction: CAPTION_INSTRUCTION, signal });
  const line = oneLine(text).replace(/^["“](.*)["”]$/, '$1');
  return line.length <= MAX_CAPTION_CHARACTERS ? line : `${line.slice(0, MAX_CAPTION_CHARACTERS).trimEnd()}...`;
}

interface ImageBytes {
  readonly bytes: Uint8Array;
  readonly contentType: string;
}

async function fetchImage(
  source: string,
  { url, options, signal }: CaptionOptions,
  fetch: GuardedFetch,
): Promise<ImageBytes> {
  if (/^data:/i.test(source)) return decodeDataUrl(source);
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
    throw new Error('not an image');
  }
  const { bytes, truncated } = await response.collect();
  if (truncated) throw new Error('the image is truncated');
  return { bytes, contentType };
}

/** Decodes a data URL. */
function decodeDataUrl(source: string): ImageBytes {
  const comma = source.indexOf(',');
  const head = source.slice('data:'.length, Math.min(comma, 200));
  if (comma < 0 || source.length > MAX_IMAGE_BYTES * 1.4) throw new Error('not an image');
  const body = source.slice(comma + 1);
  const bytes = /;\s*base64\s*$/i.test(head) ? Buffer.from(body, 'base64') : Buffer.from(decodeURIComponent(body));
  return { bytes, contentType: head.split(';', 1)[0]! };
}

/** A map that retains the most recently used entries. */
function createRecentMap<Value>() {
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
      if (entries.size > MAX_REMEMBERED) entries.delete(entries.keys().next().value!);
    },
  };
}
