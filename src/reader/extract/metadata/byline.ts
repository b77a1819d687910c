/**
 * Finds author and dates in the visible text: in bylines and datelines in the few blocks around the title. Reads only a
 * limited number of short blocks, regardless of the size of the page.
 */
import { attribute, ELEMENT, type Element, following, type Node, type Parent, TEXT } from '#html/node.ts';
import { BY_PREFIX, findAuthorNames, looksLikeName } from './author.ts';
import { daysAfter, findDate, isPlausible, mayContainDate, parseDate } from './date.ts';
import type { SiteNames } from './site-name.ts';

export interface Byline {
  authors: string[];
  /** ISO 8601. */
  published?: string;
  modified?: string;
}

export interface BylineContext {
  site: SiteNames;
  language: string;
}

const MAX_ELEMENTS = 120;
const MAX_CHARACTERS = 1_500;
/** Longer blocks are running text, not bylines. */
const MAX_BLOCK_CHARACTERS = 160;
/**
 * A paragraph of at least this length is part of the body of the page. A byline may follow the first such paragraph,
 * which is a summary.
 */
const MIN_PARAGRAPH_CHARACTERS = 200;

const SKIPPED = new Set(
  'nav aside footer form script style template svg figure iframe button select noscript'.split(' '),
);
const BREAKS = new Set('address br dd div dl dt h1 h2 h3 h4 header li p section time'.split(' '));
const UNRELATED_CLASS =
  /(?:^|[\s_-])(?:comments?|related|recommended|sidebar|newsletter|promo|share|social|breadcrumbs?)(?:$|[\s_-])/i;

const AUTHOR_CLASS =
  /(?:^|[\s_-])(?:p-author|authors?|byline|autor|auteur|autore|writer|contributors?|username)(?:$|[\s_-])(?!.*(?:bio|avatar|image|img|photo|about|social|count|description))/i;
const DATE_CLASS =
  /(?:^|[\s_-])(?:dt-published|dt-updated|date|dateline|datetime|published?|pubdate|posted|timestamp|time|updated?|modified|datum|fecha)(?:$|[\s_-])/i;

const SAYS_UPDATED =
  /updated|modified|edited|revised|reviewed|aktualisiert|geändert|mis à jour|modifié|actualizado|aggiornato|bijgewerkt|更新|수정|обновлено/iu;
const SAYS_PUBLISHED =
  /publi|posted|created|first|veröffentlicht|erstellt|geplaatst|発売|公開|发布|опубликовано|등록|입력/iu;

/** The text of an element, with line feeds between blocks; null if it is longer than a byline. */
export function shortText(element: Element): string | null {
  let text = '';
  let node: Node | null = following(element, element);
  for (let count = 0; node; count++) {
    if (count > 40) return null;
    if (node.type === TEXT) text += node.value;
    else if (node.type === ELEMENT) text += BREAKS.has(node.name) ? '\n' : ' ';
    if (text.length > MAX_BLOCK_CHARACTERS * 4) return null;
    node = following(node, element, node.type === ELEMENT && (node.name === 'script' || node.name === 'style'));
  }
  const line = text
    .replace(/\s*\n\s*/g, '\n')
    .replace(/[^\S\n]+/g, ' ')
    .trim();
  return line.length > MAX_BLOCK_CHARACTERS ? null : line;
}

/** Text that may surround the date in a line without any other sign of a dateline: the day of the week, or the time. */
const BARE_BEFORE =
  /^(?:\p{L}{2,12}[.,]{1,2}\s?|(?:on|le|am|den|el|il|em|op)\s|(?:mon|tues?|wed(?:nes)?|thu(?:rs)?|fri|sat(?:ur)?|sun)(?:day)?\s)?$/iu;
const BARE_AFTER = /^[\s,–-]{0,3}(?:(?:at|um|à|kl\.?)\s)?(?:\d{1,2}[:h.]\d{2}.{0,16})?$/iu;
/** Words before dates that do not refer to the page itself. */
const UNRELATED_DATE =
  /©|copyright|\b(?:until|ends?|expires?|expiry|deadline|effective|valid|since|starts?|due|born|from)\b/i;

/** Separators inside a byline. */
const LINES = /\n|[|•·]|\s\/\s/;

const classOf = (element: Element): string => (attribute(element, 'class') ?? '').slice(0, 300);

/** Reads the blocks around the heading, without the words of the title itself. */
export function readByline(heading: Element, context: BylineContext): Byline {
  const byline: Byline = { authors: [] };
  readAfter(heading, byline, context);
  readBefore(heading, byline, context);
  return byline;
}

function readAfter(heading: Element, byline: Byline, context: BylineContext): void {
  let top: Parent = heading;
  while (top.parent) top = top.parent;
  let characters = 0;
  let paragraphs = 0;
  let headings = 0;
  let node: Node | null = following(heading, top, true);
  for (let elements = 0; node && elements < MAX_ELEMENTS && characters < MAX_CHARACTERS; ) {
    let skip = false;
    if (node.type === TEXT) {
      const length = node.value.trim().length;
      characters += length;
      if (length > MIN_PARAGRAPH_CHARACTERS && ++paragraphs > 1) return;
    } else if (node.type === ELEMENT) {
      elements++;
      // The first further heading is a subtitle; the second one starts the body of the page.
      if (HEADINGS.has(node.name) && ++headings > 1) return;
      skip = isUnrelated(node) || isEntry(node) || readBlock(node, byline, context);
    }
    node = following(node, top, skip);
  }
}

/** Reads up to three blocks before the heading on each of the three levels above it. */
function readBefore(heading: Element, byline: Byline, context: BylineContext): void {
  let level: Element = heading;
  for (let up = 0; up < 3; up++) {
    let sibling = level.prev;
    for (let count = 0; sibling && count < 6; count++, sibling = sibling.prev) {
      if (sibling.type === ELEMENT && !isUnrelated(sibling)) readBlock(sibling, byline, context);
    }
    if (level.parent?.type !== ELEMENT || level.parent.name === 'body') return;
    level = level.parent;
  }
}

const HEADINGS = new Set(['h1', 'h2', 'h3', 'h4', 'h5', 'h6']);

const isUnrelated = (element: Element): boolean =>
  SKIPPED.has(element.name) || element.namespace !== 'html' || UNRELATED_CLASS.test(classOf(element));

/** Whether the element is one of several articles in a row, as in a listing. */
function isEntry(element: Element): boolean {
  if (element.name !== 'article') return false;
  let next = element.next;
  while (next && next.type !== ELEMENT) next = next.next;
  let prev = element.prev;
  while (prev && prev.type !== ELEMENT) prev = prev.prev;
  return next?.name === 'article' || prev?.name === 'article';
}

/** Reads a block. Returns true if its descendants need not be read. */
function readBlock(element: Element, byline: Byline, context: BylineContext): boolean {
  const names = classOf(element);
  const datetime = element.name === 'time' ? attribute(element, 'datetime') : null;
  if (datetime) addDate(parseDate(datetime), shortText(element.parent as Element) ?? names, names, byline, true);
  const text = shortText(element);
  if (!text) return text === '';
  const isDated = element.name === 'time' || DATE_CLASS.test(names);
  readDates(text, isDated, names, byline, context);
  if (byline.authors.length === 0) byline.authors = authorsIn(element, text, names, context);
  return false;
}

function addDate(
  date: string | undefined,
  around: string,
  names: string,
  byline: Byline,
  isMachineReadable = false,
): void {
  if (!date || !isPlausible(date, false)) return;
  const isUpdate = (text: string) => SAYS_UPDATED.test(text) && !SAYS_PUBLISHED.test(text);
  const key = isUpdate(around) || isUpdate(names) ? 'modified' : 'published';
  const known = byline[key];
  // The machine-readable form of the same date is more precise than the text; because of time zones, the two may differ
  // by a day.
  const isSame =
    known !== undefined && isMachineReadable && Math.abs(daysAfter(date, known)) <= 1 && known.length <= date.length;
  if (known === undefined || isSame) byline[key] = date;
}

/** Reads a line that is a date, or that says when something was published or changed. */
function readDates(text: string, isDated: boolean, names: string, byline: Byline, { language }: BylineContext): void {
  if (!mayContainDate(text)) return;
  for (const line of text.split(LINES)) {
    const found = findDate(line, language);
    if (!found) continue;
    const { before, after, date } = found;
    if (UNRELATED_DATE.test(before)) continue;
    const says = SAYS_UPDATED.test(before) || SAYS_PUBLISHED.test(before) || BY_PREFIX.test(line);
    if (isDated || says || (BARE_BEFORE.test(before) && BARE_AFTER.test(after))) addDate(date, before, names, byline);
  }
}

/** URL paths that sites use for profiles of people. */
const PROFILE =
  /\/(?:authors?|users?|members?|profiles?|people|person|u|autor(?:en)?|auteurs?|contributors?|staff|writers?|by)[/?=-]|[?&]author=/i;

/** Returns the texts of links to profiles. */
function profilesIn(element: Element): Set<string> {
  const texts = new Set<string>();
  let node: Node | null = element;
  for (let count = 0; node && count < 20; count++, node = following(node, element)) {
    if (node.type !== ELEMENT || node.name !== 'a') continue;
    const isProfile = PROFILE.test((attribute(node, 'href') ?? '').slice(0, 500));
    if (isProfile || /\bauthor\b/.test(attribute(node, 'rel') ?? '')) texts.add(shortText(node) ?? '');
  }
  return texts;
}

/**
 * Returns names after "by", or in an element with an author's class. Text that does not look like a name must link to a
 * profile.
 */
function authorsIn(element: Element, text: string, names: string, { site }: BylineContext): string[] {
  const isAuthors = AUTHOR_CLASS.test(names) || /\bauthor\b/.test(attribute(element, 'rel') ?? '');
  const lines = text.split(LINES).map((line) => line.trim());
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at]!;
    // The name may be on the line after the word.
    const by = BY_PREFIX.exec(`${line} .`);
    if (!by && !isAuthors) continue;
    const candidate = by ? line.slice(by[0].length) || (lines[at + 1] ?? '') : line;
    const date = findDate(candidate);
    const { people } = findAuthorNames([date ? date.before : candidate], site, { isText: true });
    const profiles = isAuthors ? profilesIn(element) : new Set<string>();
    const accepted = people.filter((name) => looksLikeName(name) || profiles.has(name));
    if (accepted.length) return accepted;
  }
  return [];
}
