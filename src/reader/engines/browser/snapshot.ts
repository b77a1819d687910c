/** Takes a document out of the browser: the capture of the main frame, with its frames' captures put into their places. */
import type { Options } from '../../options/resolve.ts';
import { FRAME_ATTRIBUTE, FRAMESET, HIDDEN_ATTRIBUTE } from '../../snapshot.ts';
import { type Captured, captureDocument, readText } from './capture.ts';
import type { FrameHandle, World } from './world.ts';

export type DocumentWanted = Pick<Options, 'withShadowDom' | 'withIframe' | 'detachInvisibles' | 'retainMedia'>;

export interface TakenDocument {
  readonly html: string;
  readonly captured: Omit<Captured, 'parts'>;
  /** Frames whose content should be in it, and is not. */
  readonly framesLost: number;
}

interface Taking {
  readonly limitMs: number;
  /** Whether a URL was answered by the proxy and not by its server. */
  readonly isRefused: (url: string) => boolean;
}

const MAX_CHARS = 32 * 1024 * 1024;
const MAX_STYLED = 30_000;
const MAX_POINTING_MS = 150;
const MAX_POINTED_ELEMENTS = 3_000;
const MAX_FRAMES = 60;
const MAX_DEPTH = 6;
/** What one frame may take: one that hangs must not cost the others. */
const FRAME_MS = 2_000;

/** Throws TimeUp when the page does not answer. Frames that fail, or come too late, are left out. */
export async function takeDocument(
  world: World,
  wanted: DocumentWanted,
  { limitMs, isRefused }: Taking,
): Promise<TakenDocument> {
  // What the browser, or the proxy that it goes through, shows in place of a document is nothing of the page.
  const isUnanswered = (url: string) => url.startsWith('chrome-error:') || isRefused(url);
  const until = performance.now() + limitMs;
  const left = () => Math.max(until - performance.now(), 1);
  const frameLimit = () => Math.min(left(), FRAME_MS);
  let room = MAX_CHARS;
  let framesLeft = MAX_FRAMES;
  let framesLost = 0;
  let truncated = false;
  const capture = async (frame: FrameHandle | undefined) => {
    const captured = await world.call(
      captureDocument,
      {
        withShadowDom: wanted.withShadowDom,
        withFrames: wanted.withIframe !== false,
        detachInvisibles: wanted.detachInvisibles,
        keepMedia: wanted.retainMedia !== 'none',
        fragment: frame !== undefined,
        hiddenAttribute: HIDDEN_ATTRIBUTE,
        frameAttribute: FRAME_ATTRIBUTE,
        frameset: FRAMESET,
        maxChars: room,
        maxStyled: MAX_STYLED,
        maxPointingMs: MAX_POINTING_MS,
        maxPointedElements: MAX_POINTED_ELEMENTS,
      },
      frame ? frameLimit() : left(),
      frame,
    );
    for (const part of captured.parts) room -= part.length;
    truncated ||= captured.truncated;
    return captured;
  };

  /** Frames are few and nested a few deep at most, so this may call itself. */
  const filled = async (captured: Captured, frame: FrameHandle | undefined, depth: number): Promise<string> => {
    const pieces = [captured.parts[0] ?? ''];
    for (let at = 1; at < captured.parts.length; at++) {
      const content = await frameContent(at - 1, frame, depth).catch(() => undefined);
      if (content === undefined) framesLost++;
      pieces.push(content ?? '', captured.parts[at]!);
    }
    return pieces.join('');
  };
  const frameContent = async (index: number, parent: FrameHandle | undefined, depth: number) => {
    if (depth >= MAX_DEPTH || framesLeft-- <= 0 || room <= 0) return undefined;
    const frame = await world.frameOf(index, Math.min(left(), 2 * FRAME_MS), parent);
    if (!frame) return undefined;
    if (wanted.withIframe === 'quoted') {
      const { url, text } = await world.call(readText, undefined, frameLimit(), frame);
      if (isUnanswered(url)) return undefined;
      room -= text.length;
      return text.trim()
        ? `<blockquote ${FRAME_ATTRIBUTE}="quoted"><pre>${escapeText(text.trim())}</pre></blockquote>`
        : '';
    }
    const captured = await capture(frame);
    if (isUnanswered(captured.url)) return undefined;
    const inner = await filled(captured, frame, depth + 1);
    return `<div ${FRAME_ATTRIBUTE}="${escapeText(captured.url)}">${inner}</div>`;
  };

  const { parts, ...captured } = await capture(undefined);
  if (parts.length > 1) world.seekFrames();
  const html = await filled({ parts, ...captured }, undefined, 0);
  return { html, captured: { ...captured, truncated }, framesLost };
}

const escapeText = (text: string) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
