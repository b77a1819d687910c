/**
 * Decides which blocks are headings, once all blocks of the document are known. Size and weight suggest headings; this
 * module removes captions, names of authors and labels, and adds headings that differ from the text only by their
 * number, slant or capitals.
 */
import type { Block, Look } from './blocks.ts';
import { isUnspaced } from './characters.ts';
import type { Run } from './lines.ts';
import { depthOf, isNumbered, type Numbering, numberingOf, sequenceOf } from './numbering.ts';
import { LONGEST_HEADING, type Typography } from './typography.ts';

/** A block that has text, with its position. */
interface Entry {
  readonly page: number;
  readonly at: number;
  readonly block: Texted;
  readonly text: string;
  readonly numbering: Numbering | null;
}

type Texted = Extract<Block, { readonly runs: readonly Run[] }>;

/** Changes the kinds of blocks in place. `pages` are the blocks of each page. */
export function settleHeadings(pages: Block[][], typography: Typography): void {
  const entries = entriesOf(pages);
  const kept = new Set(
    entries.filter(
      (entry) =>
        entry.block.kind === 'heading' && staysHeading(entry, pages[entry.page]![entry.at + 1], typography.bodySize),
    ),
  );
  for (const entry of namesOfAuthors(entries, kept)) kept.delete(entry);
  for (const entry of labels(entries, kept, pages)) kept.delete(entry);
  const added = addedHeadings(entries, kept, pages, typography);
  const levels = levelsOf(entries, kept, added, typography);
  for (const entry of entries) {
    const { page, at, block } = entry;
    if (kept.has(entry) || added.has(entry)) {
      const runs = block.kind === 'item' ? (block.marked ?? block.runs) : block.runs;
      pages[page]![at] = { kind: 'heading', level: levels.get(entry)!, runs, box: block.box };
    } else if (block.kind === 'heading') pages[page]![at] = { kind: 'paragraph', runs: block.runs, box: block.box };
  }
}

function entriesOf(pages: readonly (readonly Block[])[]): Entry[] {
  const entries: Entry[] = [];
  pages.forEach((blocks, page) => {
    blocks.forEach((block, at) => {
      if (!('runs' in block)) return;
      const runs = block.kind === 'item' ? (block.marked ?? block.runs) : block.runs;
      const text = textOf(runs);
      entries.push({ page, at, block, text, numbering: text.length <= LONGEST_HEADING ? numberingOf(text) : null });
    });
  });
  return entries;
}

const textOf = (runs: readonly Run[]): string =>
  runs
    .map(({ text }) => text)
    .join('')
    .trim();

/** A caption: the word for a figure or table, and its number. */
const CAPTION_WORD =
  /^[[<(]?\s*(?:figura|fig(?:ure)?s?|tabelle|tabella?|tabela|tableau|tabla|tab(?:le)?s?|abb(?:ildung)?|graph(?:ic)?|chart|diagram|exhibit|scheme|listing|algorithm|plate|map|photo|рис(?:унок)?|таблица|图|圖|表|표|그림)/iu;
const CAPTION_NUMBER = /^(?:\s*\.?\s*\d|\.?\s+(?:[IVX]{1,5}|[A-Z])(?:[\s.:–-]|$))/;

export function isCaption(text: string): boolean {
  const word = CAPTION_WORD.exec(text)?.[0];
  return word !== undefined && CAPTION_NUMBER.test(text.slice(word.length));
}

/** Captions of figures are below them; those of tables are often above. */
const FIGURE = /^(?:fig(?:ure)?|abb(?:ildung)?|figura)\s*\.?\s*\d/i;
const ADDRESS = /@|^(?:https?:\/\/|www\.)\S+$/i;
/** A sentence of at least this many words is no heading, however large it is. */
const SENTENCE_WORDS = 9;

/** Bold text smaller than this, in multiples of the body text size, is a label. */
const SMALL_HEADING = 0.88;
const LARGER = 1.05;

/** Whether text that looks like a heading by size or weight can be one. A label stands above a caption. */
function staysHeading({ block, text, numbering }: Entry, next: Block | undefined, bodySize: number): boolean {
  if (!('look' in block) || !block.look) return true;
  const isInBodySize = block.look.size < LARGER * bodySize;
  const isSmall = block.look.size < SMALL_HEADING * bodySize;
  if (isCaption(text) || ADDRESS.test(text)) return false;
  if (numbering) return true;
  if (isSmall || (isInBodySize && next && 'runs' in next && FIGURE.test(textOf(next.runs)))) return false;
  return !(/[.;:,]$/.test(text) && text.split(/\s+/).length >= SENTENCE_WORDS);
}

/** Maximum number of blocks between the title and the text. */
const MAX_AUTHOR_BLOCKS = 24;
/** The title is larger than what follows it by this factor. */
const SMALLER_THAN_TITLE = 0.95;
const MIN_TITLE_LETTERS = 4;

/**
 * Lines between the title on the first page and the text that follows, in a look that no later heading has: names of
 * authors, affiliations, dates.
 */
function namesOfAuthors(entries: readonly Entry[], kept: ReadonlySet<Entry>): Entry[] {
  const onFirst = entries.filter(({ page, block }) => page === 0 && block.kind !== 'item');
  const size = ({ block }: Entry) => (block.kind !== 'item' && block.look?.size) || 0;
  const largest = onFirst
    .filter((entry) => kept.has(entry) && entry.text.length >= MIN_TITLE_LETTERS)
    .reduce<Entry | null>((best, entry) => (best === null || size(entry) > size(best) ? entry : best), null);
  if (!largest) return [];
  const after = onFirst.slice(onFirst.indexOf(largest) + 1, onFirst.indexOf(largest) + MAX_AUTHOR_BLOCKS);
  const textAt = after.findIndex(
    (entry) =>
      entry.numbering !== null || SECTION_NAME.test(entry.text) || (!kept.has(entry) && looksLikeText(entry.block)),
  );
  // A title page without text: everything else on it may be a heading of the document.
  if (textAt < 0) return [];
  const front = after.slice(0, textAt).filter((entry) => kept.has(entry) && size(entry) > 0);
  const last = after[textAt]!;
  const lastAt = entries.indexOf(last);
  const later = new Set(entries.slice(lastAt).flatMap((entry) => (kept.has(entry) ? [styleOf(entry)] : [])));
  return front.filter(
    (entry) =>
      size(entry) < SMALLER_THAN_TITLE * size(largest) &&
      ((!later.has(styleOf(entry)) && NAMES.test(entry.text)) ||
        /[*†‡§¶∗]$/.test(entry.text) ||
        entry.block.runs.some(({ shift }) => shift === 'raised')),
  );
}

/** Names in capitals, lists, institutions and dates. */
const NAMES =
  /^(?:\p{Lu}[\p{L}.'’-]*\s+){1,4}\p{Lu}[\p{L}.'’-]+$|,|\b(?:and|und|et|y|e)\s+\p{Lu}|\b(?:19|20)\d\d\b|[Uu]nivers|[Ii]nstit|[Dd]epart|[Ff]akult|[Ff]acult|[Cc]ollege|[Ll]aborator/u;

/** Number of letters from which a paragraph is text and not a name or an address. */
const TEXT_LETTERS = 160;
const looksLikeText = ({ kind, runs }: Texted): boolean =>
  (kind === 'paragraph' || kind === 'quote') && textOf(runs).length >= TEXT_LETTERS;

const styleOf = ({ block }: Entry): string => {
  const look = block.kind === 'item' ? undefined : block.look;
  return look ? `${Math.round(look.size * 2)} ${look.bold} ${look.italic}` : '';
};

/** Number of headings in a row, without anything below them, from which they are labels. */
const LABELS_IN_A_ROW = 5;

/** Headings in a row of one look with nothing below each: labels of a diagram, or lines of a poster. */
function labels(entries: readonly Entry[], kept: ReadonlySet<Entry>, pages: readonly (readonly Block[])[]): Entry[] {
  const found: Entry[] = [];
  let row: Entry[] = [];
  const close = () => {
    if (row.length >= LABELS_IN_A_ROW && !row.some(({ numbering }) => numbering)) found.push(...row);
    row = [];
  };
  for (const entry of entries) {
    const before = row[row.length - 1];
    const follows = before && isNext(before, entry, pages) && styleOf(before) === styleOf(entry);
    const isUntagged = 'look' in entry.block && entry.block.look !== undefined;
    if (!kept.has(entry) || !isUntagged || !follows) close();
    if (kept.has(entry) && isUntagged) row.push(entry);
  }
  close();
  return found;
}

const isNext = (one: Entry, two: Entry, pages: readonly (readonly Block[])[]): boolean =>
  (one.page === two.page && two.at === one.at + 1) ||
  (two.page === one.page + 1 && two.at === 0 && one.at === pages[one.page]!.length - 1);

/** Names of sections that need no other sign. */
const SECTION_NAME =
  /^(?:abstract|summary|executive summary|contents|table of contents|introduction|conclusions?|references|bibliography|acknowledge?ments?|glossary|appendix|appendices|zusammenfassung|inhalt(?:sverzeichnis)?|einleitung|literatur(?:verzeichnis)?|anhang|r[ée]sum[ée]|sommaire|r[ée]f[ée]rences|bibliographie|annexes?|resumen|índice|introducción|conclusiones|referencias|bibliografía|riassunto|indice|introduzione|bibliografia|resumo|referências|参考文献|摘要|目录|目次|참고문헌|초록|аннотация|введение|заключение|литература)$/iu;

/** Limits for headings in the size and weight of the text, which must stand out otherwise. */
const LONGEST_PLAIN = 90;
const MAX_PLAIN_LINES = 2;
/** Distance to the line above, as a multiple of the line pitch. */
const MIN_GAP = 1.15;
/** A look or a kind of numbering must occur this often. */
const MIN_USES = 2;

function addedHeadings(
  entries: readonly Entry[],
  kept: ReadonlySet<Entry>,
  pages: readonly (readonly Block[])[],
  typography: Typography,
): Set<Entry> {
  const added = new Set<Entry>();
  if (typography.hasHeadingTags) return added;
  const slanted: Entry[] = [];
  const capital: Entry[] = [];
  const numbered: Entry[] = [];
  for (const entry of entries) {
    if (kept.has(entry)) {
      if (entry.numbering) numbered.push(entry);
      continue;
    }
    const { block, text } = entry;
    const look = block.kind === 'heading' ? undefined : block.look;
    if (!look || !couldBeHeading(entry, look, typography)) continue;
    const next = pages[entry.page]![entry.at + 1] ?? pages[entry.page + 1]?.[0];
    if (SECTION_NAME.test(text) && block.kind !== 'item' && look.lines === 1) added.add(entry);
    else if (next === undefined || !isTextBelow(next, look)) continue;
    else if (block.kind === 'item' && block.ordered && look.bold && !typography.mostlyBold) added.add(entry);
    else if (entry.numbering && look.bold && look.size > LARGER * typography.bodySize) added.add(entry);
    else if (entry.numbering && isNumbered(entry.numbering)) numbered.push(entry);
    else if (block.kind !== 'paragraph') continue;
    else if (look.italic && look.lines === 1) slanted.push(entry);
    else if (isCapitals(text) && look.lines === 1 && hasTextBelow(next)) capital.push(entry);
  }
  for (const found of [slanted, capital]) if (found.length >= MIN_USES) for (const entry of found) added.add(entry);
  for (const entry of sequenceOf(numbered, kept)) added.add(entry);
  return added;
}

/** Whether short text could be a heading, if something else than its size and weight says so. */
function couldBeHeading({ text, numbering }: Entry, look: Look, { bodySize, hasHeadingTags }: Typography): boolean {
  return (
    !(look.isText && hasHeadingTags) &&
    look.lines <= MAX_PLAIN_LINES &&
    (look.gap >= MIN_GAP || look.italic || look.bold) &&
    look.size > 0.85 * bodySize &&
    text.length <= LONGEST_PLAIN &&
    letterCount(text) >= (numbering || isUnspaced(text.slice(-1)) ? 2 : 4) &&
    !/[.,;:…|=]$/.test(text) &&
    !/^\p{Ll}/u.test(text) &&
    !isCaption(text) &&
    !ADDRESS.test(text) &&
    !/\d{3,}\D+\d{3,}/.test(text)
  );
}

const letterCount = (text: string): number => text.match(/\p{L}/gu)?.length ?? 0;

/** Whether the block below is text of another look, and not one more line of the same kind. */
function isTextBelow(next: Block, look: Look): boolean {
  if (next.kind === 'table' || next.kind === 'code') return true;
  if (next.kind === 'heading') return true;
  if (!next.look) return next.kind !== 'item';
  if (next.kind === 'item') return !(next.look.bold && look.bold);
  return next.look.bold !== look.bold || next.look.italic !== look.italic || next.look.lines > 1;
}

const hasTextBelow = (next: Block): boolean => next.kind === 'paragraph' && (next.look?.lines ?? MIN_USES) > 1;

const isCapitals = (text: string): boolean => letterCount(text) >= 5 && /^[\p{Lu}\s\p{P}]+$/u.test(text);

/** Levels of headings: by size and weight, and below that by the depth of their number. */
function levelsOf(
  entries: readonly Entry[],
  kept: ReadonlySet<Entry>,
  added: ReadonlySet<Entry>,
  { boldLevel, bodySize, levelOf }: Typography,
): Map<Entry, number> {
  const levels = new Map<Entry, number>();
  const bySize = ({ block }: Entry) => {
    if (block.kind === 'heading') return block.level;
    const size = block.look?.size ?? bodySize;
    return levelOf(size) || boldLevel;
  };
  const headings = entries.filter((entry) => kept.has(entry) || added.has(entry));
  // `I.`, `A.` and `1.` in one document: their order is not known, but their sizes are.
  const isOutlined = headings.some(({ numbering }) => numbering?.kind === 'roman');
  // The level of the outermost numbers; headings without a number keep the level of their size.
  let top = Number.POSITIVE_INFINITY;
  for (const { numbering, ...entry } of headings) {
    const depth = depthOf(numbering);
    if (depth > 0) top = Math.min(top, Math.max(2, bySize({ ...entry, numbering }) - depth + 1));
  }
  for (const entry of headings) {
    const { look } = entry.block as { readonly look?: Look };
    const depth = isOutlined ? 0 : depthOf(entry.numbering);
    const isTagged = entry.block.kind === 'heading' && !look;
    levels.set(entry, isTagged || depth === 0 ? bySize(entry) : Math.min(6, Math.max(top, top + depth - 1)));
  }
  return levels;
}
