/**
 * Chooses the kind of response from the Accept header (docs/reference/wire/reader.md, Content negotiation). Parameters
 * other than `q=0` are ignored.
 */

export type BodyKind = 'text' | 'json' | 'stream';
export type ErrorKind = 'text' | 'json' | 'stream';

type Admits = (type: string) => boolean;

function parseAccept(header: string | undefined): Admits {
  const ranges = (header ?? '').split(',').flatMap((part) => {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    const refused = parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter));
    return type && !refused ? [type] : [];
  });
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
