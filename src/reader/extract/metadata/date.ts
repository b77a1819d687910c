/**
 * Converts dates as written in pages to ISO 8601. Nothing is invented: a date without a time remains a date, a time
 * without a zone remains without one, and an ambiguous date is ignored. The current time is not used.
 */
import { isUrl } from '#is-url.ts';
import { ownValue } from '#own-value.ts';
import { monthOf } from './month-names.ts';

interface Parts {
  year: number;
  month?: number | undefined;
  day?: number | undefined;
  /** The text after the date, which may contain a time. */
  rest: string;
}

/** Longer texts are not dates. */
const MAX_CHARACTERS = 120;

/** Time zone names defined by RFC 2822, section 4.3. */
const ZONES: Readonly<Record<string, string>> = {
  z: 'Z',
  ut: 'Z',
  utc: 'Z',
  gmt: 'Z',
  est: '-05:00',
  edt: '-04:00',
  cst: '-06:00',
  cdt: '-05:00',
  mst: '-07:00',
  mdt: '-06:00',
  pst: '-08:00',
  pdt: '-07:00',
};

const twoDigits = (value: number) => String(value).padStart(2, '0');

function daysIn(year: number, month: number): number {
  if (month === 2) return (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0 ? 29 : 28;
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31;
}

function zoneOf(text: string): string {
  const offset = /^(?:utc|gmt)?\s?([+-])(\d{2}):?(\d{2})?(?!\d)/i.exec(text);
  if (offset && Number(offset[2]) <= 14 && Number(offset[3] ?? 0) < 60)
    return `${offset[1]}${offset[2]}:${offset[3] ?? '00'}`;
  const name = /^[a-z]{1,3}\b/i.exec(text);
  return name ? (ownValue(ZONES, name[0].toLowerCase()) ?? '') : '';
}

const TIME =
  /^(?:[\s,|@·–-]|at\b|um\b|à(?=\s)|kl\b\.?|t(?=\d)){0,6}(\d{1,2})[:h](\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?\s?(?:([ap])\.?m\b\.?|uhr\b)?\s?/i;

/** Returns a time such as `T10:30:00+02:00`, or '' if the text does not start with a time. */
function timeOf(text: string): string {
  const time = TIME.exec(text);
  if (!time) return '';
  let hour = Number(time[1]);
  const halfOfDay = time[5]?.toLowerCase();
  if (halfOfDay && (hour === 0 || hour > 12)) return '';
  if (halfOfDay) hour = (hour % 12) + (halfOfDay === 'p' ? 12 : 0);
  const second = Number(time[3] ?? 0);
  if (hour > 23 || Number(time[2]) > 59 || second > 60) return '';
  const fraction = time[4] && Number(time[4]) > 0 ? `.${time[4].slice(0, 3)}` : '';
  return `T${twoDigits(hour)}:${time[2]}:${twoDigits(Math.min(second, 59))}${fraction}${zoneOf(text.slice(time[0].length))}`;
}

function toIso({ year, month, day, rest }: Parts): string | undefined {
  if (year < 1000 || year > 2999) return undefined;
  if (month === undefined) return rest.trim() === '' ? String(year) : undefined;
  if (month < 1 || month > 12) return undefined;
  if (day === undefined) return `${year}-${twoDigits(month)}`;
  if (day < 1 || day > daysIn(year, month)) return undefined;
  return `${year}-${twoDigits(month)}-${twoDigits(day)}${timeOf(rest)}`;
}

type Match = RegExpExecArray;

/** Whether the day precedes the month in a date such as `3/4/2024`; undefined if that is ambiguous. */
function dayFirst(left: number, right: number, separator: string, language: string): boolean | undefined {
  if (left > 12 || left === right) return true;
  if (right > 12) return false;
  if (separator === '.') return true;
  if (/^en[-_]us\b/i.test(language)) return false;
  return language === '' || /^en(?:[-_]ca)?$/i.test(language) ? undefined : true;
}

const YEAR = '(\\d{4})(?!\\d)';
const MONTH = '(\\p{L}{3,14})\\.?';
const DAY = '(\\d{1,2})(?:st|nd|rd|th|er|º|ª|\\.)?';

/** Date formats. A pattern may match anywhere in a text; the earliest match wins. */
const FORMATS: readonly { pattern: RegExp; parts(match: Match, rest: string, language: string): Parts | undefined }[] =
  [
    {
      pattern: /(?<!\d|\d\.)(\d{4})([-/.])(\d{1,2})(?:\2(\d{1,2}))?(?!\d|[./]\d)/u,
      parts: ([, year, separator, month, day], rest) =>
        day === undefined && separator === '.'
          ? undefined
          : { year: Number(year), month: Number(month), day: day === undefined ? undefined : Number(day), rest },
    },
    {
      pattern: /(?<!\d)(\d{4})\s?[年년]\s?(\d{1,2})\s?[月월]\s?(?:(\d{1,2})\s?[日일號号])?/u,
      parts: ([, year, month, day], rest) => ({
        year: Number(year),
        month: Number(month),
        day: day === undefined ? undefined : Number(day),
        rest,
      }),
    },
    {
      pattern: new RegExp(
        `(?<![\\d\\p{L}])${DAY}(?:\\s|-|\\sof\\s|\\sde\\s)${MONTH}(?:\\s|,\\s?|-|\\sde(?:l)?\\s)${YEAR}`,
        'u',
      ),
      parts: ([, day, month, year], rest) => ({
        year: Number(year),
        month: monthOf(month!) ?? 0,
        day: Number(day),
        rest,
      }),
    },
    {
      pattern: new RegExp(`(?<![\\d\\p{L}])${MONTH}\\s?(\\d{1,2})(?:st|nd|rd|th)?(?:,\\s?|\\s)${YEAR}`, 'u'),
      parts: ([, month, day, year], rest) => ({
        year: Number(year),
        month: monthOf(month!) ?? 0,
        day: Number(day),
        rest,
      }),
    },
    {
      pattern: /(?<!\d)(\d{1,2})([-/.])(\d{1,2})\2(\d{4})(?![./-]?\d)/u,
      parts([, left, separator, right, year], rest, language) {
        const first = dayFirst(Number(left), Number(right), separator!, language);
        if (first === undefined) return undefined;
        const [day, month] = first ? [left, right] : [right, left];
        return { year: Number(year), month: Number(month), day: Number(day), rest };
      },
    },
  ];

const spaced = (text: string) => text.replace(/[\s\u00a0\u200e\u200f]+/g, ' ').trim();

/** Every date has a four-digit year. */
const YEAR_DIGITS = /\d{4}/;

/** Whether a text may contain a date. */
export const mayContainDate = (text: string): boolean => YEAR_DIGITS.test(text);

/** The first date in a short text, with the text before and after its day; null if there is none. */
export function findDate(text: string, language = ''): { date: string; before: string; after: string } | null {
  if (text.length > MAX_CHARACTERS * 4 || !YEAR_DIGITS.test(text)) return null;
  const line = spaced(text).slice(0, MAX_CHARACTERS * 2);
  let found: { date: string; before: string; after: string } | null = null;
  for (const { pattern, parts } of FORMATS) {
    const match = pattern.exec(line);
    if (!match || (found && match.index >= found.before.length)) continue;
    const after = line.slice(match.index + match[0].length);
    const read = parts(match, after, language);
    const date = read && toIso(read);
    if (date) found = { date, before: line.slice(0, match.index), after };
  }
  return found;
}

const BASIC = /^(\d{4})(\d{2})(\d{2})(?:t?(\d{2})(\d{2})(\d{2})?(.{0,10}))?$/i;

/**
 * Converts a text that is a date to ISO 8601; undefined if it is not a date. Also reads `20240305`, a year, and seconds
 * or milliseconds since 1970.
 */
export function parseDate(text: string, language = ''): string | undefined {
  if (text.length > MAX_CHARACTERS) return undefined;
  const line = spaced(text);
  if (/^[12]\d{9}(?:\d{3})?$/.test(line)) {
    const ms = line.length === 10 ? Number(line) * 1000 : Number(line);
    return new Date(ms).toISOString().replace(/\.000Z$/, 'Z');
  }
  const basic = BASIC.exec(line);
  if (basic) {
    const [, year, month, day, hour, minute, second, zone] = basic;
    const rest = hour === undefined ? '' : ` ${hour}:${minute}:${second ?? '00'}${zone ?? ''}`;
    return toIso({ year: Number(year), month: Number(month), day: Number(day), rest });
  }
  if (/^\d{4}$/.test(line)) return toIso({ year: Number(line), rest: '' });
  const found = findDate(line, language);
  // A few words before the date may be the day of the week; more words are a sentence.
  return found && found.before.length <= 30 ? found.date : undefined;
}

const EARLIEST = 1990;
const LATEST = 2100;

/**
 * Whether a date is plausible for a web page. A declared date may be older, as in archives, unless it is the first or
 * last day of a year: programs use these days for unknown dates.
 */
export function isPlausible(date: string, declared: boolean): boolean {
  const year = Number(date.slice(0, 4));
  if (year > LATEST) return false;
  if (year >= EARLIEST) return true;
  return declared && year >= 1600 && date.length >= 10 && !/^\d{4}-(?:01-01|12-3[01])/.test(date);
}

/** Number of calendar days between two ISO 8601 dates; positive if the first is later. */
export const daysAfter = (date: string, other: string): number =>
  (Date.parse(date.slice(0, 10)) - Date.parse(other.slice(0, 10))) / 86_400_000;

/** The date in the folders or the last part of a URL: `/2024/03/05/`, `/2024-03-05-`, `/2024/03/`. */
export function dateInUrl(url: string): string | undefined {
  if (!isUrl(url)) return undefined;
  const { pathname } = new URL(url);
  const match =
    /\/((?:19|20)\d{2})[/-](\d{1,2})[/-](\d{1,2})(?=[/_-]|$)/.exec(pathname) ??
    /\/((?:19|20)\d{2})([01]\d)([0-3]\d)(?=[/_-]|$)/.exec(pathname) ??
    /\/((?:19|20)\d{2})\/(\d{1,2})(?=\/)/.exec(pathname);
  if (!match) return undefined;
  const [, year, month, day] = match;
  const date = toIso({
    year: Number(year),
    month: Number(month),
    day: day === undefined ? undefined : Number(day),
    rest: '',
  });
  return date && isPlausible(date, false) ? date : undefined;
}
