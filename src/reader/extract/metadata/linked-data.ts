/**
 * Reads a page's JSON-LD, and separates facts about the page from those about the site, comments, and other pages in
 * a listing. Invalid or hostile JSON is ignored.
 */
import { parseLooseJson } from './json-repair.ts';
import { lettersAndDigits } from './site-name.ts';

export interface LinkedData {
  headline?: string;
  /** Name of the page's subject if it has no headline: a product, a video. */
  name?: string;
  /** As written. */
  published?: string;
  modified?: string;
  /** Names of authors who are people or of unknown type. */
  people: string[];
  /** Those of `people` that are declared as persons, on a page that names no organisation. */
  persons: string[];
  /** Names of authors that are organisations. */
  organisations: string[];
  siteName?: string;
  /** As written, absolute or relative. */
  image?: string;
  url?: string;
  language?: string;
  /** Every `@type`, in lower case. */
  types: Set<string>;
  /** Plain values and names of the page's main object, under its own keys, such as `datePublished`. */
  page: Record<string, string>;
}

/** Limit for all scripts together. */
const MOST_CHARACTERS = 2_000_000;
const MOST_OBJECTS = 20_000;

/** Types whose headline and dates describe the page itself. */
const OF_THE_PAGE =
  /article|posting|blogposting|webpage|newsarticle|report|recipe|product|discussionforumposting|qapage|video|book|event|howto/;

/** Types of the subjects of pages: their facts are the page's facts. */
const CONTENT =
  /article|posting|^report|recipe|howto|^question$|videoobject|^product|^book$|event|course|episode|^movie|^review$|application|creativework|dataset/;

/** Keys that lead to the page's own object; all others lead to something that it mentions. */
const OWN_KEYS = new Set(['@graph', 'mainEntity', 'mainEntityOfPage']);

type Bag = Record<string, unknown>;

interface Found {
  bag: Bag;
  /** Whether it was reached through own keys only. */
  own: boolean;
  types: string[];
}

const isBag = (value: unknown): value is Bag => typeof value === 'object' && value !== null && !Array.isArray(value);

const asText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value.trim() || undefined;
  if (Array.isArray(value)) return typeof value[0] === 'string' ? value[0].trim() || undefined : undefined;
  return isBag(value) && typeof value['@value'] === 'string' ? value['@value'].trim() || undefined : undefined;
};

/** Objects that others reference by `@id`. */
type Known = ReadonlyMap<string, Bag>;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, 50) : [value]);

/** The object itself, or the object with the same `@id` if that says more. */
function resolved(value: unknown, known: Known): unknown {
  const id = isBag(value) ? value['@id'] : undefined;
  return (typeof id === 'string' && known.get(id)) || value;
}

function nameOf(value: unknown, known: Known): string | undefined {
  if (!isBag(value)) return asText(value);
  const named = asText(value.name);
  if (named) return named;
  const other = resolved(value, known);
  return isBag(other) ? asText(other.name) : undefined;
}

const bareType = (type: string) =>
  type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.lastIndexOf(':')) + 1).toLowerCase();

function typesOf(bag: Bag): string[] {
  const type = bag['@type'];
  if (typeof type === 'string') return [bareType(type)];
  return Array.isArray(type)
    ? listOf(type)
        .filter((one) => typeof one === 'string')
        .map(bareType)
    : [];
}

const MOST_FACTS = 40;
const LONGEST_FACT = 1_000;

/** The plain values of an object, and the names of the objects that it references. */
function factsOf(bag: Bag, known: Known): Record<string, string> {
  const facts: [string, string][] = [];
  for (const [key, value] of Object.entries(bag).slice(0, 200)) {
    if (facts.length >= MOST_FACTS || (key.startsWith('@') && key !== '@type') || key.length > 60) continue;
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : textsOf(value, known);
    if (text) facts.push([key.replace('@', ''), text.slice(0, LONGEST_FACT)]);
  }
  return Object.fromEntries(facts);
}

/** A text, or several joined by commas like repeated metas; objects are replaced by their names. */
function textsOf(value: unknown, known: Known): string | undefined {
  const list = listOf(value).map((one) =>
    typeof one === 'string' ? one.trim() : Array.isArray(one) ? undefined : nameOf(one, known),
  );
  return list.filter(Boolean).join(',') || undefined;
}

/** Types that say nothing about the subject of a page. */
const FRAME = new Set(['webpage', 'website']);

/** The facts of the page's main object, for the answer's metadata. */
function pageFactsOf(found: readonly Found[], known: Known): Record<string, string> {
  let page: Record<string, string> = {};
  for (const { bag, types } of found) {
    if (!types.some((type) => OF_THE_PAGE.test(type))) continue;
    const wasFrame = !page.type || FRAME.has(page.type.toLowerCase());
    if (wasFrame && !(page.type && types.every((type) => FRAME.has(type)))) page = factsOf(bag, known);
    if (page.type && !FRAME.has(page.type.toLowerCase())) break;
  }
  return page;
}

const addressOf = (value: unknown): string | undefined => {
  const first = Array.isArray(value) ? value[0] : value;
  return asText(first) ?? (isBag(first) ? (asText(first['@id']) ?? asText(first.url)) : undefined);
};

/** Normalizes URLs that differ only in parts that servers ignore. */
const bareAddress = (address: string) =>
  address
    .replace(/[?#].*$/s, '')
    .replace(/^https?:\/\/(?:www\.)?/i, '')
    .replace(/\/+$/, '');

/**
 * The objects that the page is about: those with the page's URL, or the only one. Several that nothing tells apart
 * are a listing, and none of them describes the page.
 */
function mainBags(found: readonly Found[], url: string): Bag[] {
  const candidates = found.filter(({ own, types }) => own && types.some((type) => CONTENT.test(type)));
  const bags = candidates.map(({ bag }) => bag);
  const page = bareAddress(url);
  const here = bags.filter((bag) =>
    [bag.url, bag['@id'], bag.mainEntityOfPage].some((one) => bareAddress(addressOf(one) ?? '') === page),
  );
  const articles = (here.length ? here : bags).filter((bag) =>
    typesOf(bag).some((type) => /article|posting|^report/.test(type)),
  );
  const chosen = articles.length ? articles : here.length ? here : bags;
  const titles = new Set(chosen.map((bag) => lettersAndDigits(asText(bag.headline) ?? asText(bag.name) ?? '')));
  titles.delete('');
  return titles.size > 1 && !here.length ? [] : chosen.slice(0, 10);
}

function imageOf(value: unknown, known: Known): string | undefined {
  for (const one of listOf(value)) {
    const image = resolved(one, known);
    const address = isBag(image) ? (asText(image.url) ?? asText(image.contentUrl)) : asText(image);
    if (address) return address;
  }
  return undefined;
}

function addAuthors(bag: Bag, known: Known, data: LinkedData): void {
  for (const one of listOf(bag.author ?? bag.creator)) {
    if (Array.isArray(one)) continue;
    const name = nameOf(one, known);
    if (!name) continue;
    const who = resolved(one, known);
    const types = isBag(who) ? typesOf(who) : [];
    const isPerson = types.length === 0 || types.includes('person');
    (isPerson ? data.people : data.organisations).push(name);
    if (types.includes('person')) data.persons.push(name);
  }
}

function addSite(found: readonly Found[], main: readonly Bag[], known: Known, data: LinkedData): void {
  const named = (type: string) => found.find(({ bag, types }) => types.includes(type) && asText(bag.name))?.bag.name;
  const publisher = main.map((bag) => nameOf(listOf(bag.publisher)[0], known)).find(Boolean);
  const name = asText(named('website')) ?? publisher ?? asText(named('organization'));
  if (name) data.siteName = name;
}

/** Adds facts that are not known yet. */
function addFacts(bag: Bag, known: Known, data: LinkedData): void {
  const add = (key: 'headline' | 'name' | 'published' | 'modified' | 'image' | 'url' | 'language', value?: string) => {
    if (value && data[key] === undefined) data[key] = value;
  };
  add('headline', asText(bag.headline));
  add('name', asText(bag.name));
  add('published', asText(bag.datePublished) ?? asText(bag.uploadDate) ?? asText(bag.dateCreated));
  add('modified', asText(bag.dateModified));
  add('image', imageOf(bag.image, known) ?? imageOf(bag.primaryImageOfPage, known) ?? imageOf(bag.thumbnailUrl, known));
  add('url', addressOf(bag.mainEntityOfPage) ?? asText(bag.url));
  add('language', isBag(bag.inLanguage) ? asText(bag.inLanguage.name) : asText(bag.inLanguage));
  if (data.people.length + data.organisations.length === 0) addAuthors(bag, known, data);
}

/** Reads the page's JSON-LD scripts. `url` is the page's URL. */
export function readLinkedData(scripts: readonly string[], url: string): LinkedData {
  const data: LinkedData = { people: [], persons: [], organisations: [], types: new Set(), page: {} };
  if (scripts.length === 0) return data;
  const found = bagsOf(scripts);
  const known = new Map<string, Bag>();
  for (const { bag, types } of found) {
    for (const type of types) data.types.add(type);
    const id = bag['@id'];
    if (typeof id === 'string' && Object.keys(bag).length > 1 && !asText(known.get(id)?.name)) known.set(id, bag);
  }
  data.page = pageFactsOf(found, known);
  const main = mainBags(found, url);
  for (const bag of main) addFacts(bag, known, data);
  const frames = found.filter(({ own, types }) => own && types.some((type) => type.endsWith('page')));
  for (const { bag } of frames) addFacts({ ...bag, name: undefined, headline: undefined }, known, data);
  addSite(found, main, known, data);
  // Some systems declare every account as a person. If an organisation publishes the page, that "person" may be the
  // organisation.
  const isCompany = ({ types }: Found) =>
    types.some((type) => type.endsWith('organization') || type === 'corporation') && !types.includes('person');
  if (data.persons.length && found.some(isCompany)) data.persons = [];
  return data;
}

/** All objects, breadth first in each script, so that the page's own object precedes those that it mentions. */
function bagsOf(scripts: readonly string[]): Found[] {
  const found: Found[] = [];
  let objects = 0;
  let characters = 0;
  for (const script of scripts) {
    characters += script.length;
    if (characters > MOST_CHARACTERS) break;
    const queue: { value: unknown; own: boolean }[] = [{ value: parseLooseJson(script), own: true }];
    for (let at = 0; at < queue.length && objects < MOST_OBJECTS; at++) {
      const { value, own } = queue[at]!;
      if (typeof value !== 'object' || value === null) continue;
      objects++;
      const isList = Array.isArray(value);
      if (!isList) found.push({ bag: value as Bag, own, types: typesOf(value as Bag) });
      for (const key of Object.keys(value)) {
        const inner: unknown = (value as Bag)[key];
        if (typeof inner !== 'object' || inner === null) continue;
        queue.push({ value: inner, own: own && (isList || OWN_KEYS.has(key)) });
      }
    }
  }
  return found;
}
