/**
 * Chooses the kind of response from the Accept header (docs/reference/wire/reader.md, Content negotiation). Parameters
 * other than `q=0` are ignored.
 */

export type BodyKind = 'text' | 'json' | 'stream';
export type ErrorKind = 'text' | 'json' | 'stream';

type Admits = (type: string) => boolean;

/** The media ranges of an Accept header that are not refused. */
const rangesOf = (header: string | undefined): string[] =>
  (header ?? '').split(',').flatMap((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return type && !refused ? [type] : [];
  });

function parseAccept(header: string | undefined): Admits {
  const ranges = rangesOf(header);
  if (!ranges.length) ranges.push('*/*');
  return (type) => ranges.some((range) => range === type || range === '*/*' || range === `${type.split('/')[0]}/*`);
}

/** Preference: text, event stream, JSON. A client that accepts none of them receives text. */
export function successKind(accept: string | undefined): BodyKind {
  const admits = parseAccept(accept);
  if (admits('text/plain')) return 'text';
  if (admits('text/event-stream')) return 'stream';
  return admits('application/json') || admits('text/json') ? 'json' : 'text';
}

/** Preference: JSON, text, event stream. A client that accepts none of them receives JSON. */
export function errorKind(accept: string | undefined): ErrorKind {
  const admits = parseAccept(accept);
  if (admits('application/json')) return 'json';
  if (admits('text/plain') || admits('text/markdown')) return 'text';
  return admits('text/event-stream') ? 'stream' : 'json';
}

/** Whether the client asks for failures as problem details (RFC 9457). A wildcard does not, because it predates them. */
export const namesProblemJson = (accept: string | undefined): boolean =>
  rangesOf(accept).includes('application/problem+json');

/** Whether the client is a browser that navigates to a page: it names HTML, and neither JSON nor an event stream. */
export function isNavigation(accept: string | undefined): boolean {
  if (!accept?.includes('text/html')) return false;
  const ranges = rangesOf(accept);
  return ranges.includes('text/html') && !ranges.some((range) => DATA_TYPES.includes(range));
}

const DATA_TYPES = ['application/json', 'text/json', 'text/event-stream', 'text/plain'];
