/**
 * Renditions of kept copies, in memory: who asks again for the same page in the same form gets what was made for the
 * last one. A rendition is wholly made from its copy and the options, so this knows nothing of callers.
 */
import { createHash } from 'node:crypto';
import type { RenderTask } from './render.ts';
import type { Rendition } from './rendition.ts';

export interface Renditions {
  /** What was kept for this task, else what `make` gives. */
  through(task: RenderTask, make: () => Promise<Rendition>): Promise<Rendition>;
}

const MAX_CHARACTERS = 32_000_000;
/** Larger ones would push out too many others. */
const MAX_ONE = 2_000_000;

export function createRenditions(maxCharacters = MAX_CHARACTERS): Renditions {
  const kept = new Map<string, Rendition>();
  let characters = 0;

  const drop = (key: string) => {
    const rendition = kept.get(key);
    if (!rendition) return;
    characters -= sizeOf(rendition);
    kept.delete(key);
  };
  const keep = (key: string, rendition: Rendition) => {
    drop(key);
    kept.set(key, rendition);
    characters += sizeOf(rendition);
    for (const oldest of kept.keys()) {
      if (characters <= maxCharacters) break;
      drop(oldest);
    }
  };

  return {
    async through(task, make) {
      const { cachedAt, screenshot, pageshot } = task.snapshot;
      if (cachedAt === undefined || screenshot || pageshot || task.captions) return make();
      const key = keyOf(task);
      const known = kept.get(key);
      if (known) {
        keep(key, known);
        return known;
      }
      const rendition = await make();
      if (sizeOf(rendition) <= MAX_ONE && !task.options.doNotTrack) keep(key, rendition);
      return rendition;
    },
  };
}

/** The text itself is part of the key: two copies of one moment need not be the same page. */
function keyOf({ snapshot, options, requestedUrl, limits, pageLinks, isGiven, isKeyless }: RenderTask): string {
  const { text, ...facts } = snapshot;
  const form = JSON.stringify([
    facts,
    { ...options, formats: [...options.formats], trace: undefined },
    requestedUrl,
    limits,
    pageLinks,
    isGiven,
    isKeyless,
  ]);
  return createHash('sha256').update(form).update('\0').update(text).digest('base64');
}

/** Roughly what an entry of an explanation holds. */
const EXPLAINED = 400;

/** Roughly what a link of the page holds. */
const LINK = 150;

/** Roughly what a rendition holds: its body says the same as its page object. */
const sizeOf = ({ body, page, pageLinks }: Rendition): number =>
  body.length +
  (page.content?.length ?? 0) +
  (page.html?.length ?? 0) +
  (page.text?.length ?? 0) +
  (page.explanation ? (page.explanation.removed.length + page.explanation.blocks.length) * EXPLAINED : 0) +
  (pageLinks?.links.length ?? 0) * LINK +
  1_000;
