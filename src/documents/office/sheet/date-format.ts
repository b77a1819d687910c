/** Formats dates and times, which spreadsheets store as days since an epoch. */
import type { Section, Token } from './format-code.ts';

const DAY_MS = 86_400_000;
/**
 * Day 0 of workbooks that count from 1900 and from 1904. The former is valid after February 1900, because such
 * workbooks count 29 February 1900, which did not exist.
 */
const EPOCH_1900 = Date.UTC(1899, 11, 30);
const EPOCH_1904 = Date.UTC(1904, 0, 1);
/** 9999-12-31, the last date that spreadsheets support. */
const LAST_DAY = 2_958_465;

/** Converts a serial number to UTC; `undefined` if it is out of range. */
export function dateOf(serial: number, date1904: boolean): Date | undefined {
  if (!(serial >= 0 && serial <= LAST_DAY + 1)) return undefined;
  const days = !date1904 && serial < 60 ? serial + 1 : serial;
  return new Date((date1904 ? EPOCH_1904 : EPOCH_1900) + Math.round(days * DAY_MS));
}

const ISO = /^(\d{4})-(\d\d)-(\d\d)(?:T(\d\d):(\d\d)(?::(\d\d(?:\.\d{1,9})?))?)?Z?$/;

/** The serial number of an ISO 8601 date, in the workbook's own count; `undefined` for other text. */
export function serialOf(iso: string, date1904: boolean): number | undefined {
  const found = ISO.exec(iso.trim());
  if (!found) return undefined;
  const [year, month, day, hours = 0, minutes = 0, seconds = 0] = found
    .slice(1)
    .map((part) => (part === undefined ? undefined : Number(part)));
  const midnight = (Date.UTC(year!, month! - 1, day!) - (date1904 ? EPOCH_1904 : EPOCH_1900)) / DAY_MS;
  const days = !date1904 && midnight <= 60 ? midnight - 1 : midnight;
  const serial = days + (hours * 3600 + minutes * 60 + seconds) / 86_400;
  return serial >= 0 ? serial : undefined;
}

/** Returns `undefined` for numbers outside the range of dates. */
export function writeDate(section: Section, serial: number, date1904: boolean): string | undefined {
  const { tokens } = section;
  const isSpan = tokens.some(({ kind }) => kind === 'elapsed');
  const fraction = fractionDigits(tokens);
  const unitMs = 10 ** (3 - fraction);
  const rounded = (Math.round((serial * DAY_MS) / unitMs) * unitMs) / DAY_MS;
  const date = dateOf(Math.abs(rounded), date1904);
  if (!date || (serial < 0 && !isSpan)) return undefined;
  const parts = tokens.map((token, at) => partOf(token, at, section, date, rounded));
  return `${serial < 0 ? '-' : ''}${parts.join('')}`.replace(/ {2,}/g, ' ').trim();
}

function partOf(token: Token, at: number, section: Section, date: Date, serial: number): string {
  const { tokens } = section;
  switch (token.kind) {
    case 'elapsed': {
      const units = { h: 24, m: 1_440, s: 86_400 }[token.text[0] as 'h' | 'm' | 's'];
      // Adding a hundredth of a millisecond prevents 23:59:59.9999… from losing an hour.
      return pad(Math.floor(Math.abs(serial) * units + 1e-7), token.text.length);
    }
    case 'date':
      return fieldOf(
        token.text,
        isMinutes(tokens, at),
        tokens.some(({ kind }) => kind === 'half'),
        date,
        section.lang,
      );
    case 'half': {
      const half = date.getUTCHours() < 12 ? 'AM' : 'PM';
      return token.text.length > 3 ? half : half[0]!;
    }
    case 'point':
      return '.';
    case 'digit':
      return isSecondFraction(tokens, at)
        ? (String(date.getUTCMilliseconds()).padStart(3, '0')[fractionPlace(tokens, at)] ?? '0')
        : token.text;
    default:
      return token.text;
  }
}

function fieldOf(letters: string, isMinute: boolean, hasHalf: boolean, date: Date, lang = 'en'): string {
  const { length } = letters;
  switch (letters[0]) {
    case 'y':
      return length <= 2 ? pad(date.getUTCFullYear() % 100, 2) : pad(date.getUTCFullYear(), 4);
    case 'e':
      return pad(date.getUTCFullYear(), 4);
    case 'b':
      return pad(date.getUTCFullYear() + 543, 4);
    case 'm':
      if (isMinute) return pad(date.getUTCMinutes(), length);
      if (length <= 2) return pad(date.getUTCMonth() + 1, length);
      if (length === 5) return named(date, { month: 'long' }, lang).slice(0, 1);
      return named(date, { month: length === 3 ? 'short' : 'long' }, lang);
    case 'd':
      return length <= 2
        ? pad(date.getUTCDate(), length)
        : named(date, { weekday: length === 3 ? 'short' : 'long' }, lang);
    case 'a':
      return named(date, { weekday: length === 3 ? 'short' : 'long' }, lang);
    case 'h':
      return pad(hasHalf ? date.getUTCHours() % 12 || 12 : date.getUTCHours(), length);
    case 's':
      return pad(date.getUTCSeconds(), length);
    default:
      return '';
  }
}

const named = (date: Date, options: Intl.DateTimeFormatOptions, lang: string): string => {
  const key = `${lang} ${Object.entries(options).join()}`;
  let formatter = formatters.get(key);
  if (!formatter) {
    formatter = new Intl.DateTimeFormat(lang, { ...options, timeZone: 'UTC' });
    formatters.set(key, formatter);
  }
  return formatter.format(date);
};

const formatters = new Map<string, Intl.DateTimeFormat>();

const pad = (value: number, length: number): string => String(value).padStart(Math.min(length, 20), '0');

/** `m` means minutes next to hours or seconds. */
function isMinutes(tokens: readonly Token[], at: number): boolean {
  const token = tokens[at]!;
  if (token.text[0] !== 'm' || token.text.length > 2) return false;
  const isTime = (other: Token | undefined, letters: string) =>
    other !== undefined && letters.includes(other.text[0]!.toLowerCase());
  const dated = (other: Token) => other.kind === 'date' || other.kind === 'elapsed';
  return isTime(tokens.slice(0, at).findLast(dated), 'h') || isTime(tokens.slice(at + 1).find(dated), 's');
}

/** Marks `ss.00`: zeros after a decimal point after seconds. */
function isSecondFraction(tokens: readonly Token[], at: number): boolean {
  let point = at;
  while (tokens[point]?.kind === 'digit') point--;
  const before = tokens[point - 1];
  return (
    tokens[point]?.kind === 'point' && (before?.kind === 'date' || before?.kind === 'elapsed') && before.text[0] === 's'
  );
}

function fractionPlace(tokens: readonly Token[], at: number): number {
  let place = 0;
  while (tokens[at - 1 - place]?.kind === 'digit') place++;
  return place;
}

const fractionDigits = (tokens: readonly Token[]): number =>
  Math.min(3, tokens.filter((token, at) => token.kind === 'digit' && isSecondFraction(tokens, at)).length);
