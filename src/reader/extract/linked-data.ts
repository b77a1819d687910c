/** JSON-LD of a page: the few facts about it that metadata wants. Broken or hostile JSON is passed over. */

export interface LinkedData {
  headline?: string;
  published?: string;
  author?: string;
  siteName?: string;
  /** Every `@type`, in lower case. */
  types: Set<string>;
  /** What the object that is the page says of itself in plain values and names, by its own words: `datePublished`. */
  page: Record<string, string>;
}

const LARGEST_SCRIPT = 2_000_000;
const MOST_OBJECTS = 20_000;

/** Types whose headline and dates speak of the page itself. */
const OF_THE_PAGE =
  /article|posting|blogposting|webpage|newsarticle|report|recipe|product|discussionforumposting|qapage|video|book|event|howto/;

type Bag = Record<string, unknown>;

const asText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value.trim() || undefined;
  if (Array.isArray(value)) return asText(value[0]);
  return undefined;
};

/** The names of objects that others refer to by their `@id`. */
type Names = ReadonlyMap<string, string>;

const nameOf = (value: unknown, known: Names): string | undefined => {
  if (Array.isArray(value)) {
    const names = value.slice(0, 20).map((one) => nameOf(Array.isArray(one) ? undefined : one, known));
    return names.filter(Boolean).join(', ') || undefined;
  }
  if (typeof value !== 'object' || value === null) return asText(value);
  const { name, '@id': id } = value as Bag;
  return asText(name) ?? (typeof id === 'string' ? known.get(id) : undefined);
};

const typesOf = (bag: Bag): string[] => {
  const type = bag['@type'];
  const list = Array.isArray(type) ? type : [type];
  return list.filter((one) => typeof one === 'string').map((one) => one.replace(/^.*[/#:]/, '').toLowerCase());
};

const MOST_FACTS = 40;
const LONGEST_FACT = 1_000;

/** The plain values of an object; of what it refers to, the name. */
function factsOf(bag: Bag, known: Names): Record<string, string> {
  const facts: [string, string][] = [];
  for (const [key, value] of Object.entries(bag).slice(0, 200)) {
    if (facts.length >= MOST_FACTS || (key.startsWith('@') && key !== '@type') || key.length > 60) continue;
    const text = typeof value === 'number' || typeof value === 'boolean' ? String(value) : textsOf(value, known);
    if (text) facts.push([key.replace('@', ''), text.slice(0, LONGEST_FACT)]);
  }
  return Object.fromEntries(facts);
}

/** A text, or several joined by a comma as repeated metas are; objects by their names. */
function textsOf(value: unknown, known: Names): string | undefined {
  const list = (Array.isArray(value) ? value.slice(0, 50) : [value]).map((one) =>
    typeof one === 'string' ? one.trim() : Array.isArray(one) ? undefined : nameOf(one, known),
  );
  return list.filter(Boolean).join(',') || undefined;
}

/** Types that say nothing of what a page is about. */
const FRAME = new Set(['webpage', 'website']);

function take(bag: Bag, known: Names, data: LinkedData): void {
  const types = typesOf(bag);
  for (const type of types) data.types.add(type);
  if (types.some((type) => type === 'website' || type === 'organization')) data.siteName ??= asText(bag.name);
  if (!types.some((type) => OF_THE_PAGE.test(type))) return;
  const wasFrame = !data.page.type || FRAME.has(data.page.type.toLowerCase());
  if (wasFrame && !(data.page.type && types.every((type) => FRAME.has(type)))) data.page = factsOf(bag, known);
  data.headline ??= asText(bag.headline);
  data.published ??= asText(bag.datePublished);
  data.author ??= nameOf(bag.author, known);
}

/** Reads the texts of the page's JSON-LD scripts; the first object that has a fact wins. */
export function readLinkedData(scripts: string[]): LinkedData {
  const data: LinkedData = { types: new Set(), page: {} };
  const bags = bagsOf(scripts);
  const known = new Map<string, string>();
  for (const { '@id': id, name } of bags) {
    const text = asText(name);
    if (typeof id === 'string' && text) known.set(id, text);
  }
  for (const bag of bags) take(bag, known, data);
  return data;
}

/** All objects, breadth first in each script, so that the page's own object comes before what it mentions. */
function bagsOf(scripts: string[]): Bag[] {
  const bags: Bag[] = [];
  let objects = 0;
  for (const script of scripts) {
    if (script.length > LARGEST_SCRIPT) continue;
    let queue: unknown[];
    try {
      queue = [JSON.parse(script.replace(/^\s*(?:<!--|\/\/<!\[CDATA\[|<!\[CDATA\[)|(?:-->|(?:\/\/)?\]\]>)\s*$/g, ''))];
    } catch {
      continue;
    }
    for (let at = 0; at < queue.length && objects < MOST_OBJECTS; at++) {
      const value = queue[at];
      if (typeof value !== 'object' || value === null) continue;
      objects++;
      if (!Array.isArray(value)) bags.push(value as Bag);
      for (const inner of Object.values(value)) if (typeof inner === 'object' && inner !== null) queue.push(inner);
    }
  }
  return bags;
}
