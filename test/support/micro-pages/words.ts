/** Words for micro-pages: numbered names and titles that are all different, and sentences in several languages. */
import { SENTENCES } from './sentences.ts';

export type Language = keyof typeof SENTENCES;

/** Calls `make` for 0 to `count` - 1. */
export const times = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at));

/**
 * Combines two lists whose lengths have no common divisor, so the first length times length pairs are all different.
 */
const pairs =
  (firsts: readonly string[], seconds: readonly string[], join: (first: string, second: string) => string) =>
  (count: number, from = 0): string[] =>
    times(count, (at) => join(firsts[(from + at) % firsts.length]!, seconds[(from + at) % seconds.length]!));

const split = (words: string) => words.split(', ');

const OUTINGS = split(
  'Morning walk, Boat trip, Guided tour, Family picnic, Bird watch, Photo safari, Night hike, Cycle ride, Sketching hour, Cave visit, Tasting, Horse ride, Swim, Fossil hunt, Lantern parade',
);
const PLACES = split(
  'Selby Harbor, Oakmoor, Tarn Ridge, Copper Falls, Wren Island, Mill Lane, Stony Beach, Larch Wood, Old Quarry, Heron Lake, Castle Rise, Amber Cove, Fennel Marsh, Kiln Street, North Pier, Salt Meadow, Juniper Pass',
);
/** Titles such as "Boat trip at Oakmoor"; up to 255 are different. */
export const outings = pairs(OUTINGS, PLACES, (outing, place) => `${outing} at ${place}`);
/** Names of places; up to 17 are different. */
export const places = (count: number, from = 0): string[] => times(count, (at) => PLACES[(from + at) % PLACES.length]!);

const MATERIALS = split(
  'Walnut, Linen, Brass, Enamel, Bamboo, Cork, Slate, Woolen, Copper, Ceramic, Canvas, Leather, Marble',
);
const THINGS = split(
  'table lamp, bread box, tea tray, plant stand, door stop, wall clock, coat rack, salt mill, book end, cake dome, pen holder, water jug, fruit bowl, foot stool, letter rack, picture frame',
);
/** Names such as "Linen bread box"; up to 208 are different. */
export const products = pairs(MATERIALS, THINGS, (material, thing) => `${material} ${thing}`);

const FIRST_NAMES = split(
  'Ada, Bruno, Carla, Deniz, Elif, Farid, Greta, Hugo, Imani, Jonas, Keiko, Lars, Mina, Nuno, Olga, Pavel, Rosa, Soren, Tomas',
);
const LAST_NAMES = split(
  'Albrecht, Brandt, Castell, Dorsey, Ekman, Falk, Granger, Hollis, Ivers, Jansen, Kowal, Lindqvist, Moreau',
);
/** Names of people; up to 247 are different. */
export const people = pairs(FIRST_NAMES, LAST_NAMES, (first, last) => `${first} ${last}`);

const SUBJECTS = split(
  'The lower gate, The spare key, A second pump, The blue notebook, The night bus, Our old printer, The corner shop, The upper field, The choir, The garden hose, Every parcel, The repair kit, The side entrance',
);
const PREDICATES = split(
  'needs a new coat of paint, was moved to the cellar, is checked on Mondays, costs less in winter, came back after two weeks, works again since yesterday, belongs to the neighbors, will be replaced in May, makes more noise than before, was found behind the shed, can be borrowed for a day, has been empty for years, opens at half past nine, is older than the house, fits into a small bag, stays dry in the rain',
);
/** Sentences that no paragraph of SENTENCES has; up to 208 are different. */
export const remarks = pairs(SUBJECTS, PREDICATES, (subject, predicate) => `${subject} ${predicate}.`);

const TERMS = split(
  'alloy, ballast, caulk, dowel, escrow, flux, gusset, hinge, ingot, joist, kerf, lintel, mortise, notch, offset, parapet, quoin, rebate, soffit, tenon, upstand, vellum, wainscot, yoke, zinc',
);
/** Single words, as in a glossary; up to 25 are different. */
export const terms = (count: number, from = 0): string[] => times(count, (at) => TERMS[(from + at) % TERMS.length]!);

/** Sentences of a language, repeated after the last. */
export function sentences(count: number, from = 0, language: Language = 'en'): string[] {
  const all = SENTENCES[language];
  return times(count, (at) => all[(from + at) % all.length]!);
}

/** Paragraphs of three sentences each. */
export const paragraphs = (count: number, from = 0, language: Language = 'en'): string[] =>
  times(count, (at) => sentences(3, from + 3 * at, language).join(language === 'ja' ? '' : ' '));

/** A title as the last segment of a path. */
export const slug = (title: string): string => title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');

/** A link to a page of the same site. */
export const link = (text: string, folder = 'pages', attributes = ''): string =>
  `<a href="/${folder}/${slug(text)}"${attributes}>${text}</a>`;

/** Each text in an element of this name. */
export const inEach = (name: string, texts: readonly string[], attributes = ''): string =>
  texts.map((text) => `<${name}${attributes}>${text}</${name}>`).join('\n');
