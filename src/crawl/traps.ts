/**
 * Crawler traps: endless calendars, and lists that can be sorted and filtered in every combination. Similar URLs form a
 * trap kind, and a crawl reads only a limited number of URLs of each kind.
 */
import { parameterName, queryPairs } from './normalize-url.ts';

export interface TrapKind {
  /** Identifies the kind. URLs of one kind share a counter. */
  readonly name: string;
  readonly limit: number;
}

/** Deeper paths usually come from links that are relative to the wrong folder. */
const MAX_SEGMENTS = 20;
/** A path that repeats a segment more often than this is considered a loop. */
const MAX_REPEATS = 3;
const MAX_PARAMETERS = 12;

const MAX_OF_CALENDAR = 60;
/**
 * Maximum number of URLs of a kind, by number of query parameters. Pages of a list usually have one parameter, and
 * combinations of filters have several.
 */
const MAX_OF_QUERY = [2_000, 500, 200, 50] as const;
const MAX_OF_PATH_QUERIES = 5_000;

/** Media, programs and assets, which contain no text to read. */
const UNREAD =
  /\.(?:7z|aac|apk|avi|bin|bmp|bz2|css|deb|dmg|dll|eot|exe|flac|flv|gif|gz|ico|img|iso|jar|jpe?g|js|m4[av]|mjs|map|midi?|mkv|mov|mp[34g]|mpe?g|msi|og[agv]|otf|pkg|png|rar|rpm|so|svg|swf|tar|tgz|tiff?|ttf|war|wasm|wav|web[mp]|wm[av]|woff2?|xz|zip)$/i;

/** A date with a plausible year and month, and optionally a day. Other numbers are considered page names. */
const DATE =
  /^(?:19|20)\d\d(?:[-_](?:0?[1-9]|1[0-2])(?:[-_](?:0?[1-9]|[12]\d|3[01]))?|(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])?)$/;
const YEAR_OR_DAY = /^(?:(?:19|20)\d\d|0?[1-9]|[12]\d|3[01])$/;
const DATE_NAME =
  /^(?:date|day|month|year|week|start|end|from|to|when|cal|calendar|tribe-bar-date|ical)(?:[-_]?date)?$/i;

/** Whether a URL is never followed: a file without text, or a path that is too long or loops. */
export function isUnfollowable({ pathname, search }: URL): boolean {
  if (UNREAD.test(pathname)) return true;
  const segments = pathname.split('/').filter(Boolean);
  if (segments.length > MAX_SEGMENTS || queryPairs(search).length > MAX_PARAMETERS) return true;
  const counts = new Map<string, number>();
  for (const segment of segments) {
    // Numbers may repeat without being a loop.
    if (/^\d+$/.test(segment)) continue;
    const count = (counts.get(segment) ?? 0) + 1;
    if (count > MAX_REPEATS) return true;
    counts.set(segment, count);
  }
  return false;
}

/** Returns the trap kinds that a URL belongs to; none for most URLs. */
export function trapKinds({ host, pathname, search }: URL): TrapKind[] {
  const kinds: TrapKind[] = [];
  const parameters = queryPairs(search);
  const path = `${host}${pathname}`;
  const calendar = calendarOf(pathname, parameters);
  if (calendar !== undefined) kinds.push({ name: `calendar ${host}${calendar}`, limit: MAX_OF_CALENDAR });
  if (parameters.length) {
    const names = parameters.map(parameterName).sort();
    const limit = MAX_OF_QUERY[Math.min(parameters.length, MAX_OF_QUERY.length) - 1]!;
    kinds.push(
      { name: `query ${path}?${names.join('&')}`, limit },
      { name: `queries ${path}`, limit: MAX_OF_PATH_QUERIES },
    );
  }
  return kinds;
}

/** Returns the path of a calendar, if the URL ends in a date or has a date as a parameter. */
function calendarOf(pathname: string, parameters: readonly string[]): string | undefined {
  const segments = pathname.split('/').filter(Boolean);
  const last = segments.at(-1) ?? '';
  const isDay = DATE.test(last) || (YEAR_OR_DAY.test(last) && YEAR_OR_DAY.test(segments.at(-2) ?? ''));
  if (isDay) {
    const end = segments.findIndex((segment) => DATE.test(segment) || YEAR_OR_DAY.test(segment));
    return `/${segments.slice(0, end).join('/')}`;
  }
  const isAsked = parameters.some((pair) => {
    const value = pair.slice(parameterName(pair).length + 1);
    return /\d/.test(value) && (DATE_NAME.test(parameterName(pair)) || /^\d{4}-\d{2}-\d{2}/.test(value));
  });
  return isAsked ? pathname : undefined;
}
