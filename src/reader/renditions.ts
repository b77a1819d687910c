/**
 * In-memory cache of renditions made from cached copies: a repeated request for the same page in the same format gets
 * the same rendition. A rendition depends only on its copy and the options, so callers can share it.
 */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { RenderTask } from './render.ts';
import type { Rendition } from './rendition.ts';

export interface RenditionCache {
  /** The cached rendition of this task, or else the result of `make`. */
  getOrRender(task: RenderTask, make: () => Promise<Rendition>): Promise<Rendition>;
}

const MAX_CHARACTERS = 32_000_000;
/** Maximum size of a cached rendition: larger ones would evict too many others. */
const MAX_RENDITION_CHARACTERS = 2_000_000;

export function createRenditionCache(maxCharacters = MAX_CHARACTERS): RenditionCache {
  const renditions = new LRUCache<string, Rendition>({
    maxSize: maxCharacters,
    maxEntrySize: MAX_RENDITION_CHARACTERS,
    sizeCalculation: sizeOf,
  });

  return {
    async getOrRender(task, make) {
      const { cachedAt, screenshot, pageshot } = task.snapshot;
      if (cachedAt === undefined || screenshot || pageshot || task.captions) return make();
      const key = keyOf(task);
      const known = renditions.get(key);
      if (known) return known;
      const rendition = await make();
      if (!task.options.doNotTrack) renditions.set(key, rendition);
      return rendition;
    },
  };
}

/** The text is part of the key, because two copies made at the same moment may differ. */
function keyOf({
  snapshot,
  options,
  requestedUrl,
  limits,
  pageLinks,
  blockPlaces,
  details,
  contentOnly,
  elements,
  pictureUrls,
  isGiven,
  isKeyless,
}: RenderTask): string {
  const { text, ...facts } = snapshot;
  const form = JSON.stringify([
    facts,
    { ...options, formats: [...options.formats], trace: undefined },
    requestedUrl,
    limits,
    pageLinks,
    blockPlaces,
    details,
    contentOnly,
    elements,
    pictureUrls,
    isGiven,
    isKeyless,
  ]);
  return createHash('sha256').update(form).update('\0').update(text).digest('base64');
}

/** Estimated length of one explanation entry, in characters. */
const EXPLANATION_CHARACTERS = 400;

/** Estimated length of one link, in characters. */
const LINK_CHARACTERS = 150;

/** Estimated length of one page or block of a document, in characters. */
const PLACE_CHARACTERS = 100;

/** Estimated size in characters. The body repeats the page object, so both are counted. */
const sizeOf = ({ body, page, pageLinks, placedBlocks, details, elements = [], pictures = [] }: Rendition): number =>
  body.length +
  (details?.contentHtml?.length ?? 0) +
  (page.content?.length ?? 0) +
  (page.html?.length ?? 0) +
  (page.text?.length ?? 0) +
  (page.explanation ? (page.explanation.removed.length + page.explanation.blocks.length) * EXPLANATION_CHARACTERS : 0) +
  (pageLinks?.links.length ?? 0) * LINK_CHARACTERS +
  ((page.pages?.length ?? 0) + (placedBlocks?.length ?? 0)) * PLACE_CHARACTERS +
  elements.reduce((sum, { text }) => sum + 2 * text.length + PLACE_CHARACTERS, 0) +
  pictures.reduce((sum, { dataUrl }) => sum + dataUrl.length, 0) +
  1_000;
