/** Converts the page or file that a document refers to or contains to Markdown. */

import { problem } from '#errors.ts';
import { invalidOption } from '../definition/options.ts';
import type { Document } from '../document.ts';
import { type Call, Executor, type ExecutorClass, requests } from '../executor.ts';
import { isObject, type JsonObject } from '../values.ts';
import { eachDocument } from './each-document.ts';
import { readParameters, readSettings, type Settings } from './settings.ts';
import type { BuiltInTools, Read as ReadOne, ReadPage, ReadSource } from './tools.ts';

/**
 * Reader options that requests may set. Only the operator may set options that cost money, run scripts or choose a
 * proxy.
 */
const REQUEST_OPTIONS = [
  'targetSelector',
  'removeSelector',
  'waitForSelector',
  'retainLinks',
  'retainImages',
  'withIframe',
  'noCache',
  'timeout',
];
const READS_AT_ONCE = 4;

export function readExecutor(reading: BuiltInTools['reading']): ExecutorClass {
  return class Read extends Executor<Settings> {
    static override readonly requests = requests<Read>({ '/index': 'read', '/update': 'read', '/read': 'read' });

    readonly #atOnce = readSettings(this.options, ['reader', 'at_once']).integer('at_once', 1) ?? READS_AT_ONCE;
    readonly #reader = readSettings(this.options, ['reader', 'at_once']).record('reader') ?? {};
    readonly #read: ReadOne = reading(this.#reader);

    async read({ docs, parameters, signal }: Call): Promise<void> {
      const requested = readRequestOptions(parameters);
      const read = requested ? reading({ ...this.#reader, ...requested }) : this.#read;
      const wanted = docs.filter(isReadable);
      await eachDocument(wanted, { atOnce: this.#atOnce, signal }, async (doc) => {
        fillDocument(doc, await read(createSource(doc), signal));
      });
    }
  };
}

/** Reads the reader options from the parameters of a request: `{reader: {targetSelector: "main"}}`. */
function readRequestOptions(parameters: JsonObject): Settings | undefined {
  const given = readParameters(parameters).raw('reader');
  if (given === undefined) return undefined;
  if (!isObject(given)) throw invalidOption('parameters.reader', 'expected a mapping');
  for (const name of Object.keys(given)) {
    if (!REQUEST_OPTIONS.includes(name)) {
      throw invalidOption(`parameters.reader.${name}`, `requests may only set ${REQUEST_OPTIONS.join(', ')}`);
    }
  }
  return given;
}

/** Documents with a text have already been read; tensors cannot be read. */
const isReadable = (doc: Document): boolean =>
  doc.blob ? doc.blob.length > 0 : doc.content === undefined || doc.content === '' ? doc.uri !== '' : false;

function createSource({ blob, uri, mimeType }: Document): ReadSource {
  if (blob) return { bytes: blob, mediaType: mimeType, name: fileNameOf(uri) };
  if (/^data:/i.test(uri)) return parseDataUri(uri);
  if (/^https?:\/\//i.test(uri)) return { url: uri };
  throw problem('ParamValidationError', {
    path: 'uri',
    message: 'Documents are read from http, https and data URLs, or from their blob',
  });
}

const fileNameOf = (uri: string): string | undefined =>
  /^data:/i.test(uri) ? undefined : uri.split(/[?#]/)[0] || undefined;

/** RFC 2397: `data:text/html;charset=utf-8;base64,...`. */
function parseDataUri(uri: string): ReadSource {
  const comma = uri.indexOf(',');
  if (comma < 0) throw problem('ParamValidationError', { path: 'uri', message: 'The data URL has no comma' });
  const described = uri.slice('data:'.length, comma);
  const isBase64 = /;\s*base64\s*$/i.test(described);
  const mediaType = described.replace(/;\s*base64\s*$/i, '') || 'text/plain;charset=US-ASCII';
  const data = uri.slice(comma + 1);
  try {
    return { bytes: isBase64 ? Buffer.from(decodeURIComponent(data), 'base64') : decodePercent(data), mediaType };
  } catch {
    throw problem('ParamValidationError', { path: 'uri', message: 'The data URL cannot be decoded' });
  }
}

/** The decoded bytes need not be valid UTF-8. */
const decodePercent = (data: string): Uint8Array =>
  Buffer.from(
    Buffer.from(data)
      .toString('latin1')
      .replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16))),
    'latin1',
  );

/** Sets the text and tags of a document. Tags set by the client take precedence. */
function fillDocument(doc: Document, { text, url, title, description, published, warning }: ReadPage): void {
  doc.text = text;
  doc.mimeType = 'text/markdown';
  const found: JsonObject = {};
  if (title) found.title = title;
  if (description) found.description = description;
  if (published) found.published = published;
  if (warning) found.warning = warning;
  // The final URL, if it differs from the requested one.
  if (url && url !== doc.uri) found.url = url;
  doc.tags = { ...found, ...doc.tags };
}
