/**
 * Reads a page's JSON-LD, and separates the metadata of the page from that of the site, comments, and other pages in a
 * listing. Invalid or hostile JSON is ignored.
 */
import { parseLooseJson } from './json-repair.ts';
import { lettersAndDigits } from './site-name.ts';

export interface LinkedData {
  headline?: string;
  /** Name of the page's subject, such as a product or a video, if it has no headline. */
  name?: string;
  /** The date as written. */
  published?: string;
  modified?: string;
  /** Names of authors who are people or of unknown type. */
  people: string[];
  /** The names in `people` that are explicitly declared as persons, if the page names no organization. */
  persons: string[];
  /** Names of authors that are organizations. */
  organizations: string[];
  siteName?: string;
  /** The URL as written, absolute or relative. */
  image?: string;
  url?: string;
  language?: string;
  /** Every `@type`, in lower case. */
  types: Set<string>;
  /** Plain values and names from the page's main object, by key, such as `datePublished`. */
  page: Record<string, string>;
}

/** Maximum total length of all scripts. */
const MAX_CHARACTERS = 2_000_000;
const MAX_OBJECTS = 20_000;

/** Types of objects with a headline and dates that describe the page itself. */
const PAGE_TYPES =
  /article|posting|blogposting|webpage|newsarticle|report|recipe|product|discussionforumposting|qapage|video|book|event|howto/;

/** Types of things that pages are about: their properties are used as the page's metadata. */
const CONTENT_TYPES =
  /article|posting|^report|recipe|howto|^question$|videoobject|^product|^book$|event|course|episode|^movie|^review$|application|creativework|dataset/;

/** Keys that lead to the page's own object; all other keys lead to objects that the page mentions. */
const OWN_KEYS = new Set(['@graph', 'mainEntity', 'mainEntityOfPage']);

type JsonObject = Record<string, unknown>;

interface Found {
  object: JsonObject;
  /** Whether the object was reached only through keys that lead to the page's own object. */
  own: boolean;
  types: string[];
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const asText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value.trim() || undefined;
  if (Array.isArray(value)) return typeof value[0] === 'string' ? value[0].trim() || undefined : undefined;
  return isObject(value) && typeof value['@value'] === 'string' ? value['@value'].trim() || undefined : undefined;
};

/** Objects that others reference by `@id`. */
type ObjectsById = ReadonlyMap<string, JsonObject>;

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value.slice(0, 50) : [value]);

/** The object itself, or the object with the same `@id` if that has more data. */
function resolved(value: unknown, byId: ObjectsById): unknown {
  const id = isObject(value) ? value['@id'] : undefined;
  return (typeof id === 'string' && byId.get(id)) || value;
}

function nameOf(value: unknown, byId: ObjectsById): string | undefined {
  if (!isObject(value)) return asText(value);
  const named = asText(value.name);
  if (named) return named;
  const other = resolved(value, byId);
  return isObject(other) ? asText(other.name) : undefined;
}

const bareType = (type: string) =>
  type.slice(Math.max(type.lastIndexOf('/'), type.lastIndexOf('#'), type.lastIndexOf(':')) + 1).toLowerCase();

function typesOf(object: JsonObject): string[] {
  const type = object['@type'];
  if (typeof type === 'string') return [bareType(type)];
  return Array.isArray(type)
    ? listOf(type)
        .filter((one) => typeof one === 'string')
        .map(bareType)
    : [];
}

const MAX_FACTS = 40;
const MAX_FACT_CHARACTERS = 1_000;

/** Whole texts, which are no metadata. */
const BODIES = new Set(['articleBody', 'reviewBody', 'text', 'transcript']);

/** The plain values of an object, and the names of the objects that it references. */
function factsOf(object: JsonObject, byId: ObjectsById): Record<string, string> {
  const facts: [string, string][] = [];
  for (const [key, value] of Object.entries(object).slice(0, 200)) {
    if (facts.length >= MAX_FACTS || (key.startsWith('@') && key !== '@type') || key.length > 60 || BODIES.has(key))
      continue;
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : textsOf(value, byId);
    if (text) facts.push([key.replace('@', ''), text.slice(0, MAX_FACT_CHARACTERS)]);
  }
  return Object.fromEntries(facts);
}

/** A text, or several joined by commas like repeated metas; objects are replaced by their names. */
function textsOf(value: unknown, byId: ObjectsById): string | undefined {
  const list = listOf(value).map((one) =>
    typeof one === 'string' ? one.trim() : Array.isArray(one) ? undefined : nameOf(one, byId),
  );
  return list.filter(Boolean).join(',') || undefined;
}

/** Types that do not indicate the subject of a page. */
const CONTAINER_TYPES = new Set(['webpage', 'website']);

/** The properties of the page's main object, for the `metadata` field of the result. */
function pageFactsOf(found: readonly Found[], byId: ObjectsById): Record<string, string> {
  let page: Record<string, string> = {};
  for (const { object, types } of found) {
    if (!types.some((type) => PAGE_TYPES.test(type))) continue;
    const wasContainer = !page.type || CONTAINER_TYPES.has(page.type.toLowerCase());
    if (wasContainer && !(page.type && types.every((type) => CONTAINER_TYPES.has(type)))) page = factsOf(object, byId);
    if (page.type && !CONTAINER_TYPES.has(page.type.toLowerCase())) break;
  }
  return page;
}

const urlOf = (value: unknown): string | undefined => {
  const first = Array.isArray(value) ? value[0] : value;
  return asText(first) ?? (isObject(first) ? (asText(first['@id']) ?? asText(first.url)) : undefined);
};

/** Normalizes URLs that differ only in parts that servers ignore. */
const bareUrl = (url: string) =>
  url
    .replace(/[?#].*$/s, '')
    .replace(/^https?:\/\/(?:www\.)?/i, '')
    .replace(/\/+$/, '');

/**
 * The objects that the page is about: those with the page's URL, or the only object. Several objects that cannot be
 * distinguished are a listing, and none of them describes the page.
 */
function mainObjects(found: readonly Found[], url: string): JsonObject[] {
  const candidates = found.filter(({ own, types }) => own && types.some((type) => CONTENT_TYPES.test(type)));
  const objects = candidates.map(({ object }) => object);
  const page = bareUrl(url);
  const withPageUrl = objects.filter((object) =>
    [object.url, object['@id'], object.mainEntityOfPage].some((one) => bareUrl(urlOf(one) ?? '') === page),
  );
  const articles = (withPageUrl.length ? withPageUrl : objects).filter((object) =>
    typesOf(object).some((type) => /article|posting|^report/.test(type)),
  );
  const chosen = articles.length ? articles : withPageUrl.length ? withPageUrl : objects;
  const titles = new Set(
    chosen.map((object) => lettersAndDigits(asText(object.headline) ?? asText(object.name) ?? '')),
  );
  titles.delete('');
  return titles.size > 1 && !withPageUrl.length ? [] : chosen.slice(0, 10);
}

function imageOf(value: unknown, byId: ObjectsById): string | undefined {
  for (const one of listOf(value)) {
    const image = resolved(one, byId);
    const url = isObject(image) ? (asText(image.url) ?? asText(image.contentUrl)) : asText(image);
    if (url) return url;
  }
  return undefined;
}

function addAuthors(object: JsonObject, byId: ObjectsById, data: LinkedData): void {
  for (const one of listOf(object.author ?? object.creator)) {
    if (Array.isArray(one)) continue;
    const name = nameOf(one, byId);
    if (!name) continue;
    const who = resolved(one, byId);
    const types = isObject(who) ? typesOf(who) : [];
    const isPerson = types.length === 0 || types.includes('person');
    (isPerson ? data.people : data.organizations).push(name);
    if (types.includes('person')) data.persons.push(name);
  }
}

function addSite(found: readonly Found[], main: readonly JsonObject[], byId: ObjectsById, data: LinkedData): void {
  const named = (type: string) =>
    found.find(({ object, types }) => types.includes(type) && asText(object.name))?.object.name;
  const publisher = main.map((object) => nameOf(listOf(object.publisher)[0], byId)).find(Boolean);
  const name = asText(named('website')) ?? publisher ?? asText(named('organization'));
  if (name) data.siteName = name;
}

/** Adds properties that are not known yet. */
function addFacts(object: JsonObject, byId: ObjectsById, data: LinkedData): void {
  const add = (key: 'headline' | 'name' | 'published' | 'modified' | 'image' | 'url' | 'language', value?: string) => {
    if (value && data[key] === undefined) data[key] = value;
  };
  add('headline', asText(object.headline));
  add('name', asText(object.name));
  add('published', asText(object.datePublished) ?? asText(object.uploadDate) ?? asText(object.dateCreated));
  add('modified', asText(object.dateModified));
  add(
    'image',
    imageOf(object.image, byId) ?? imageOf(object.primaryImageOfPage, byId) ?? imageOf(object.thumbnailUrl, byId),
  );
  add('url', urlOf(object.mainEntityOfPage) ?? asText(object.url));
  add('language', isObject(object.inLanguage) ? asText(object.inLanguage.name) : asText(object.inLanguage));
  if (data.people.length + data.organizations.length === 0) addAuthors(object, byId, data);
}

/** Reads the page's JSON-LD scripts. `url` is the page's URL. */
export function readLinkedData(scripts: readonly string[], url: string): LinkedData {
  const data: LinkedData = { people: [], persons: [], organizations: [], types: new Set(), page: {} };
  if (scripts.length === 0) return data;
  const found = objectsOf(scripts);
  const byId = new Map<string, JsonObject>();
  for (const { object, types } of found) {
    for (const type of types) data.types.add(type);
    const id = object['@id'];
    if (typeof id === 'string' && Object.keys(object).length > 1 && !asText(byId.get(id)?.name)) byId.set(id, object);
  }
  data.page = pageFactsOf(found, byId);
  const main = mainObjects(found, url);
  for (const object of main) addFacts(object, byId, data);
  const frames = found.filter(({ own, types }) => own && types.some((type) => type.endsWith('page')));
  for (const { object } of frames) addFacts({ ...object, name: undefined, headline: undefined }, byId, data);
  addSite(found, main, byId, data);
  // Some systems declare every account as a person. If an organization publishes the page, that "person" may be the
  // organization.
  const isCompany = ({ types }: Found) =>
    types.some((type) => type.endsWith('organization') || type === 'corporation') && !types.includes('person');
  if (data.persons.length && found.some(isCompany)) data.persons = [];
  return data;
}

/** All objects, breadth first in each script, so that the page's own object precedes those that it mentions. */
function objectsOf(scripts: readonly string[]): Found[] {
  const found: Found[] = [];
  let objects = 0;
  let characters = 0;
  for (const script of scripts) {
    characters += script.length;
    if (characters > MAX_CHARACTERS) break;
    const queue: { value: unknown; own: boolean }[] = [{ value: parseLooseJson(script), own: true }];
    for (let at = 0; at < queue.length && objects < MAX_OBJECTS; at++) {
      const { value, own } = queue[at]!;
      if (typeof value !== 'object' || value === null) continue;
      objects++;
      const isList = Array.isArray(value);
      if (!isList) found.push({ object: value as JsonObject, own, types: typesOf(value as JsonObject) });
      for (const key of Object.keys(value)) {
        const inner: unknown = (value as JsonObject)[key];
        if (typeof inner !== 'object' || inner === null) continue;
        queue.push({ value: inner, own: own && (isList || OWN_KEYS.has(key)) });
      }
    }
  }
  return found;
}
