/**
 * Sites without an end: calendars, and lists that can be sorted and filtered in every combination. An address is
 * counted with those that look like it, and of each kind a crawl reads so many.
 */
import { nameOf, parametersOf } from './address.ts';

export interface Kind {
  /** The addresses that are counted together. */
  readonly name: string;
  readonly most: number;
}

/** Deeper paths are made by links that are relative to the wrong folder. */
const MAX_SEGMENTS = 20;
/** So often the same name stands in a path only when it goes round. */
const MAX_REPEATS = 3;
const MAX_PARAMETERS = 12;

const MAX_OF_CALENDAR = 60;
/** By how many parameters are asked for: pages of a list have one, combinations several. */
const MAX_OF_QUERY = [2_000, 500, 200, 50] as const;
const MAX_OF_PATH_QUERIES = 5_000;

/** Media, programs and parts of pages: what nobody reads. */
const UNREAD =
  /\.(?:7z|aac|apk|avi|bin|bmp|bz2|css|deb|dmg|dll|eot|exe|flac|flv|gif|gz|ico|img|iso|jar|jpe?g|js|m4[av]|mjs|map|midi?|mkv|mov|mp[34g]|mpe?g|msi|og[agv]|otf|pkg|png|rar|rpm|so|svg|swf|tar|tgz|tiff?|ttf|war|wasm|wav|web[mp]|wm[av]|woff2?|xz|zip)$/i;

/** Of a year that may be meant, with month and day or without the day: other numbers are names of pages. */
const DATE =
  /^(?:19|20)\d\d(?:[-_](?:0?[1-9]|1[0-2])(?:[-_](?:0?[1-9]|[12]\d|3[01]))?|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])?)$/;
const YEAR_OR_DAY = /^(?:(?:19|20)\d\d|0?[1-9]|[12]\d|3[01])$/;
const DATE_NAME =
  /^(?:date|day|month|year|week|start|end|from|to|when|cal|calendar|tribe-bar-date|ical)(?:[-_]?date)?$/i;

/** Whether an address is none that anybody would follow: a file that nobody reads, or a path that goes round. */
export function isHopeless({ pathname, search }: URL): boolean {
  if (UNREAD.test(pathname)) return true;
  const segments = pathname.split('/').filter(Boolean);
  if (segments.length > MAX_SEGMENTS || parametersOf(search).length > MAX_PARAMETERS) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) {
    // Numbers come again where nothing goes round.
    if (/^\d+$/.test(segment)) continue;
    const count = (counts.get(segment) ?? 0) + 1;
    if (count > MAX_REPEATS) return true;
    counts.set(segment, count);
  }
  return false;
}

/** The kinds of pages without an end that an address may be of; none for most. */
export function kindsOf({ host, pathname, search }: URL): Kind[] {
  const kinds: Kind[] = [];
  const parameters = parametersOf(search);
  const path = `${host}${pathname}`;
  const calendar = calendarOf(pathname, parameters);
  if (calendar !== undefined) kinds.push({ name: `calendar ${host}${calendar}`, most: MAX_OF_CALENDAR });
  if (parameters.length) {
    const names = parameters.map(nameOf).sort();
    const most = MAX_OF_QUERY[Math.min(parameters.length, MAX_OF_QUERY.length) - 1]!;
    kinds.push(
      { name: `query ${path}?${names.join('&')}`, most },
      { name: `queries ${path}`, most: MAX_OF_PATH_QUERIES },
    );
  }
  return kinds;
}

/** The path of a calendar: one that ends in a date, or of which a date is asked. */
function calendarOf(pathname: string, parameters: readonly string[]): string | undefined {
  const segments = pathname.split('/').filter(Boolean);
  const last = segments.at(-1) ?? '';
  const isDay = DATE.test(last) || (YEAR_OR_DAY.test(last) && YEAR_OR_DAY.test(segments.at(-2) ?? ''));
  if (isDay) {
    const end = segments.findIndex((segment) => DATE.test(segment) || YEAR_OR_DAY.test(segment));
    return `/${segments.slice(0, end).join('/')}`;
  }
  const isAsked = parameters.some((pair) => {
    const value = pair.slice(nameOf(pair).length + 1);
    return /\d/.test(value) && (DATE_NAME.test(nameOf(pair)) || /^\d{4}-\d{2}-\d{2}/.test(value));
  });
  return isAsked ? pathname : undefined;
}
