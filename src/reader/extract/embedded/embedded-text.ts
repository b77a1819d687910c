/**
 * The text of a page that shows none: many pages carry it as data for their scripts, as JSON-LD or as the state of a
 * framework. Scripts are read, never run.
 */
import { append, attribute, type Document, Element, elements, find, Text, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { parseLooseJson } from '../metadata/json-repair.ts';
import { eachProse, TAGS } from './strings.ts';

/** Where the text was found. */
export type EmbeddedSource = 'linked data' | 'script data';

/** Less text than this is a description, which the answer shows anyway. */
const MIN_CHARACTERS = 300;
const MAX_CHARACTERS = 1_000_000;
/** Maximum for the scripts of a page combined. */
const MAX_SCRIPT_CHARACTERS = 8_000_000;
const MAX_STRINGS = 5_000;
const MAX_OBJECTS = 20_000;

export interface EmbeddedText {
  readonly source: EmbeddedSource;
  readonly element: Element;
}

/** Appends the embedded text of a page to its body, as one element; returns undefined if there is none. */
export function appendEmbeddedText(document: Document): EmbeddedText | undefined {
  const body = find(document, 'body');
  const found = body && embeddedTexts(document);
  if (!body || !found) return undefined;
  const element = new Element('article');
  for (const text of found.texts) appendText(element, text);
  append(body, element);
  return { source: found.source, element };
}

/** Whether a page that shows no text can be answered with embedded text. */
export const hasEmbeddedText = (document: Document): boolean =>
  Boolean(find(document, 'body')) && embeddedTexts(document) !== undefined;

function embeddedTexts(document: Document): { source: EmbeddedSource; texts: string[] } | undefined {
  const scripts = scriptsOf(document);
  const bodies = linkedBodies(scripts.linked);
  const source = lengthOf(bodies) >= MIN_CHARACTERS ? 'linked data' : 'script data';
  const texts = source === 'linked data' ? bodies : proseOf(scripts.state);
  return lengthOf(texts) < MIN_CHARACTERS ? undefined : { source, texts };
}

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

/** Variables in which frameworks leave the state of a page for their scripts. */
const STATE =
  /__(?:NUXT|NEXT_DATA|INITIAL_(?:STATE|DATA|PROPS)|APOLLO_STATE|PRELOADED_STATE|REDUX_STATE|APP_(?:STATE|DATA|INITIAL_STATE)|STATE|DATA|SSR_DATA|SERVER_DATA|PRELOADED|remixContext|next_f|sveltekit_\w{1,20})(?:__)?\b/;
/** The name is near the start of the script. */
const STATE_CHARACTERS = 2_000;

function scriptsOf(document: Document): { linked: string[]; state: string[] } {
  const linked: string[] = [];
  const state: string[] = [];
  let left = MAX_SCRIPT_CHARACTERS;
  for (const script of elements(document, 'script')) {
    if (left <= 0) break;
    const text = textOf(script);
    const type = (attribute(script, 'type') ?? '').split(';', 1)[0]!.trim().toLowerCase();
    const isJson = type === 'application/json' || type.endsWith('+json');
    if (
      !isJson &&
      (!/^(?:|module|(?:text|application)\/javascript)$/.test(type) || !STATE.test(text.slice(0, STATE_CHARACTERS)))
    )
      continue;
    (type === 'application/ld+json' ? linked : state).push(text.slice(0, left));
    left -= text.length;
  }
  return { linked, state };
}

/** Keys of JSON-LD that hold the text of a page (schema.org). */
const BODIES = new Set(['articleBody', 'reviewBody', 'text', 'transcript']);

/** The texts in JSON-LD, in order, each once. */
function linkedBodies(scripts: readonly string[]): string[] {
  const found = new Set<string>();
  let objects = 0;
  for (const script of scripts) {
    const queue: unknown[] = [parseLooseJson(script)];
    for (let at = 0; at < queue.length && objects < MAX_OBJECTS; at++, objects++) {
      const value = queue[at];
      if (typeof value !== 'object' || value === null) continue;
      for (const [key, inner] of Object.entries(value)) {
        if (typeof inner === 'object') queue.push(inner);
        else if (typeof inner === 'string' && BODIES.has(key) && inner.trim()) found.add(inner.trim());
      }
    }
  }
  return longest([...found]);
}

function proseOf(scripts: readonly string[]): string[] {
  const found = new Set<string>();
  for (const script of scripts) {
    eachProse(script, (text) => {
      found.add(text.trim());
      return found.size < MAX_STRINGS;
    });
  }
  return longest([...found]);
}

/** The longest texts up to the limit, in their original order, without those that a longer one repeats. */
function longest(texts: readonly string[]): string[] {
  const kept = new Set<string>();
  let left = MAX_CHARACTERS;
  const top: string[] = [];
  for (const text of [...texts].sort((a, b) => b.length - a.length)) {
    if (text.length > left || top.some((longer) => longer.includes(text.slice(0, 200)))) continue;
    // Summaries repeat the start of the body, which is among the longest.
    if (top.length < 3) top.push(text);
    kept.add(text);
    left -= text.length;
  }
  return texts.filter((text) => kept.has(text));
}

function appendText(article: Element, text: string): void {
  if (TAGS.test(text.slice(0, 4_000))) {
    const part = new Element('div');
    const fragment = parseFragment(text);
    while (fragment.first) append(part, fragment.first);
    append(article, part);
    return;
  }
  for (const paragraph of text.split(/\n\s*\n|\r?\n/)) {
    if (!paragraph.trim()) continue;
    const element = new Element('p');
    append(element, new Text(paragraph));
    append(article, element);
  }
}
