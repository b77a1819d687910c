/** Captures a document from the browser: the main frame, with the content of its frames inserted. */
import type { Options } from '../../options/resolve.ts';
import { FRAME_ATTRIBUTE, FRAMESET, HIDDEN_ATTRIBUTE } from '../../snapshot.ts';
import { captureDocument, type DocumentCapture, readText } from './capture.ts';
import type { FrameHandle, World } from './world.ts';

export type DocumentOptions = Pick<Options, 'withShadowDom' | 'withIframe' | 'detachInvisibles' | 'retainMedia'>;

export interface CapturedDocument {
  readonly html: string;
  readonly captured: Omit<DocumentCapture, 'parts'>;
  /** Number of frames with missing content. */
  readonly framesMissing: number;
}

interface CaptureLimits {
  readonly limitMs: number;
  /** Whether the proxy responded for a URL in place of its server. */
  readonly isRefused: (url: string) => boolean;
}

const MAX_CHARS = 32 * 1024 * 1024;
const MAX_STYLE_LOOKUPS = 30_000;
const MAX_HIT_TEST_MS = 150;
const MAX_HIT_TEST_ELEMENTS = 3_000;
const MAX_FRAMES = 60;
const MAX_DEPTH = 6;
/** Time limit for one frame: a hanging frame must not delay the others. */
const FRAME_MS = 2_000;

/** Throws DeadlineExceededError if the page does not respond. Frames that fail or take too long are omitted. */
export async function captureFrames(
  world: World,
  options: DocumentOptions,
  { limitMs, isRefused }: CaptureLimits,
): Promise<CapturedDocument> {
  // Error pages of the browser or the proxy are not part of the page.
  const isUnanswered = (url: string) => url.startsWith('chrome-error:') || isRefused(url);
  const until = performance.now() + limitMs;
  const left = () => Math.max(until - performance.now(), 1);
  const frameLimit = () => Math.min(left(), FRAME_MS);
  let charsLeft = MAX_CHARS;
  let framesLeft = MAX_FRAMES;
  let framesMissing = 0;
  let truncated = false;
  const capture = async (frame: FrameHandle | undefined) => {
    const captured = await world.call(
      captureDocument,
      {
        withShadowDom: options.withShadowDom,
        withFrames: options.withIframe !== false,
        detachInvisibles: options.detachInvisibles,
        keepMedia: options.retainMedia !== 'none',
        fragment: frame !== undefined,
        hiddenAttribute: HIDDEN_ATTRIBUTE,
        frameAttribute: FRAME_ATTRIBUTE,
        frameset: FRAMESET,
        maxChars: charsLeft,
        maxStyleLookups: MAX_STYLE_LOOKUPS,
        maxHitTestMs: MAX_HIT_TEST_MS,
        maxHitTestElements: MAX_HIT_TEST_ELEMENTS,
      },
      frame ? frameLimit() : left(),
      frame,
    );
    for (const part of captured.parts) charsLeft -= part.length;
    truncated ||= captured.truncated;
    return captured;
  };

  /** Recursive: frames are few and nested only a few levels deep. */
  const withFrameContent = async (
    captured: DocumentCapture,
    frame: FrameHandle | undefined,
    depth: number,
  ): Promise<string> => {
    const pieces = [captured.parts[0] ?? ''];
    for (let at = 1; at < captured.parts.length; at++) {
      const content = await frameContent(at - 1, frame, depth).catch(() => undefined);
      if (content === undefined) framesMissing++;
      pieces.push(content ?? '', captured.parts[at]!);
    }
    return pieces.join('');
  };
  const frameContent = async (index: number, parent: FrameHandle | undefined, depth: number) => {
    if (depth >= MAX_DEPTH || framesLeft-- <= 0 || charsLeft <= 0) return undefined;
    const frame = await world.frameOf(index, Math.min(left(), 2 * FRAME_MS), parent);
    if (!frame) return undefined;
    if (options.withIframe === 'quoted') {
      const { url, text } = await world.call(readText, undefined, frameLimit(), frame);
      if (isUnanswered(url)) return undefined;
      charsLeft -= text.length;
      return text.trim()
        ? `<blockquote ${FRAME_ATTRIBUTE}="quoted"><pre>${escapeText(text.trim())}</pre></blockquote>`
        : '';
    }
    const captured = await capture(frame);
    if (isUnanswered(captured.url)) return undefined;
    const inner = await withFrameContent(captured, frame, depth + 1);
    return `<div ${FRAME_ATTRIBUTE}="${escapeText(captured.url)}">${inner}</div>`;
  };

  const { parts, ...captured } = await capture(undefined);
  if (parts.length > 1) world.attachFrames();
  const html = await withFrameContent({ parts, ...captured }, undefined, 0);
  return { html, captured: { ...captured, truncated }, framesMissing };
}

const escapeText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
