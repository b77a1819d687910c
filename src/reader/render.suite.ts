/** Renders HTML without a thread, for tests of the output. */
import type { GivenOptions } from './options/options.ts';
import { resolve } from './options/resolve.ts';
import { type RenderTask, render } from './render.ts';
import type { Rendition } from './rendition.ts';
import { loadTokens } from './tokens.ts';

await loadTokens();

/** A page at `https://example.org/page` as fetched by the direct engine. */
export function taskFor(html: string, given: GivenOptions = {}, captions?: RenderTask['captions']): RenderTask {
  const url = 'https://example.org/page';
  return {
    snapshot: {
      url,
      status: 200,
      statusText: 'OK',
      mediaType: 'text/html',
      text: html,
      settled: true,
      hiddenFrames: false,
      hiddenShadow: false,
      notes: [],
      engine: 'direct',
    },
    options: resolve(given),
    requestedUrl: url,
    limits: { maxDepth: 256, maxElements: 80_000, proxyFactor: 5, readerlmTokens: 60_000, visionTokens: 16_000 },
    captions,
  };
}

export const renderHtml = (html: string, given: GivenOptions = {}, captions?: RenderTask['captions']): Rendition =>
  render(taskFor(html, given, captions));
