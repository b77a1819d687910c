/** Reads the payload of a request of REST version 1 (docs/reference/wire/flow.md, Generation 1). */
import { BODY, invalidAt, malformed } from '../json/index.ts';
import { isObject } from '../values.ts';
import { parseJson } from './body.ts';
import type { V1Kind } from './rest-v1.ts';

/** Number of documents sent through the flow at once, as in the original framework. */
export const DEFAULT_PART_SIZE = 100;

const DATA = { parent: BODY, key: 'data' };
/** The `data_type` values. Without one, an object is a document and a string is content. */
const DOCUMENTS = 1;
const CONTENTS = 2;

/** Returns `data` for `readRequest`. Throws SubmittedDataMalformedError for entries that `data_type` does not allow. */
export function readV1Data({ data, data_type: type }: Record<string, unknown>, kind: V1Kind): unknown {
  if (data === undefined || data === null) throw invalidAt(DATA, 'missing');
  const list = typeof data === 'string' ? [data] : data;
  if (!Array.isArray(list)) return list;
  return kind === 'delete' ? readContents(list) : readTyped(list, type);
}

function readTyped(data: readonly unknown[], type: unknown): readonly unknown[] {
  switch (type) {
    case undefined:
    case null:
    case 0:
      return data;
    case DOCUMENTS:
      return data.map((entry, at) => (typeof entry === 'string' ? parseDocument(entry, at) : entry));
    case CONTENTS:
      return readContents(data);
    default: {
      const msg = 'value is not a valid enumeration member; permitted: 0, 1, 2';
      throw malformed([{ loc: ['body', 'data_type'], msg, type: 'type_error.enum' }]);
    }
  }
}

function readContents(data: readonly unknown[]): readonly unknown[] {
  const at = data.findIndex((entry) => typeof entry !== 'string');
  if (at >= 0) throw invalidAt({ parent: DATA, key: at }, 'string');
  return data;
}

function parseDocument(text: string, at: number): object {
  try {
    const value = parseJson(text);
    if (isObject(value)) return value;
  } catch {
    // Reported below with its location in the body.
  }
  throw invalidAt({ parent: DATA, key: at }, 'dict');
}

/** The media type of documents without one; empty by default. */
export function readMimeType({ mime_type: type }: Record<string, unknown>): string {
  if (type === undefined || type === null) return '';
  if (typeof type !== 'string') throw invalidAt({ parent: BODY, key: 'mime_type' }, 'string');
  return type;
}
