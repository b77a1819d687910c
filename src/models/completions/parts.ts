/** Parses the content of a message: texts, and media sent as a URL or inline data. */
import { isUrl } from '#is-url.ts';
import type { Faults, Place } from '../inputs/faults.ts';

export interface MediaSource {
  /** Path in the body. */
  readonly at: Place;
  readonly given: { readonly url: string } | { readonly base64: string; readonly contentType: string };
  readonly name?: string | undefined;
  /** Requested pages, counted from 1, in the requested order; undefined means all. */
  readonly pages: readonly number[] | undefined;
}

interface Content {
  readonly texts: readonly string[];
  readonly media: readonly MediaSource[];
}

type Part = Readonly<Record<string, unknown>>;

const MOST_PARTS = 1_000;

/** A string, or a list of parts (docs/reference/wire/models.md, Chat completions). */
export function readParts(content: unknown, at: Place, faults: Faults): Content {
  if (typeof content === 'string') return { texts: [content], media: [] };
  const texts: string[] = [];
  const media: MediaSource[] = [];
  if (content === undefined || content === null) faults.add(at, 'missing', 'is required');
  else if (!Array.isArray(content)) faults.add(at, 'value_error', 'must be a string or a list of parts', content);
  else if (content.length > MOST_PARTS) faults.add(at, 'too_long', `must have at most ${MOST_PARTS} parts`);
  else
    for (const [index, part] of content.entries()) {
      const read = readPart(part, [...at, index], faults);
      if (typeof read === 'string') texts.push(read);
      else if (read) media.push(read);
    }
  return { texts, media };
}

function readPart(part: unknown, at: Place, faults: Faults): string | MediaSource | undefined {
  if (typeof part === 'string') return part;
  if (!isObject(part)) {
    faults.add(at, 'dict_type', 'must be an object', part);
    return undefined;
  }
  switch (part.type) {
    case 'text':
      return textAt(part.text, [...at, 'text'], faults);
    case 'image_url':
      return readImageUrl(part.image_url, [...at, 'image_url'], faults);
    case 'image':
      return readImage(part, at, faults);
    case 'file':
      return readFilePart(part.file, [...at, 'file'], faults);
    default:
      faults.add([...at, 'type'], 'enum', 'must be one of text, image_url, image, file', part.type);
      return undefined;
  }
}

function readImageUrl(value: unknown, at: Place, faults: Faults): MediaSource | undefined {
  const isBare = typeof value === 'string';
  if (!isBare && !isObject(value)) {
    faults.add(at, value === undefined ? 'missing' : 'dict_type', 'must be an object with a url', value);
    return undefined;
  }
  const place = isBare ? at : [...at, 'url'];
  const url = textAt(isBare ? value : value.url, place, faults);
  return url === undefined ? undefined : sourceOf(url, place, { pages: isBare ? undefined : value.pages }, faults);
}

/** Plain base64, or a data URI. */
function readImage(part: Part, at: Place, faults: Faults): MediaSource | undefined {
  if (part.format !== undefined && part.format !== 'base64') {
    faults.add([...at, 'format'], 'enum', 'must be base64', part.format);
    return undefined;
  }
  const place = [...at, 'value'];
  const value = textAt(part.value, place, faults);
  return value === undefined ? undefined : inlineSource(value, place, part, faults);
}

function readFilePart(value: unknown, at: Place, faults: Faults): MediaSource | undefined {
  if (!isObject(value)) {
    faults.add(at, value === undefined ? 'missing' : 'dict_type', 'must be an object with file_data', value);
    return undefined;
  }
  const place = [...at, 'file_data'];
  const data = textAt(value.file_data, place, faults);
  const name = typeof value.filename === 'string' ? value.filename.slice(0, 255) : undefined;
  return data === undefined ? undefined : inlineSource(data, place, { ...value, name }, faults);
}

interface Remarks {
  readonly pages?: unknown;
  readonly name?: string | undefined;
}

const inlineSource = (value: string, at: Place, remarks: Remarks, faults: Faults): MediaSource | undefined =>
  /^data:/i.test(value)
    ? sourceOf(value, at, remarks, faults)
    : { ...common(at, remarks, faults), given: { base64: value, contentType: '' } };

/** Maximum length of a URL, in characters. */
const LONGEST_URL = 8_192;

function sourceOf(url: string, at: Place, remarks: Remarks, faults: Faults): MediaSource | undefined {
  const shared = common(at, remarks, faults);
  if (/^data:/i.test(url)) {
    const comma = url.indexOf(',');
    const head = comma < 0 || comma > 500 ? undefined : url.slice('data:'.length, comma);
    if (head === undefined || !/;\s*base64\s*$/i.test(head)) {
      faults.add(at, 'media_error', 'must be a data URI in base64: `data:image/png;base64,…`', url);
      return undefined;
    }
    return { ...shared, given: { base64: url.slice(comma + 1), contentType: head.split(';', 1)[0]!.trim() } };
  }
  if (url.length > LONGEST_URL || !/^https?:\/\//i.test(url) || !isUrl(url)) {
    faults.add(at, 'media_error', 'must be an http(s) URL or a data URI', url);
    return undefined;
  }
  const page = /#page=(\d{1,6})$/i.exec(url)?.[1];
  return { ...shared, pages: shared.pages ?? (page ? [Number(page)] : undefined), given: { url } };
}

function common(at: Place, { pages, name }: Remarks, faults: Faults) {
  return { at, name, pages: pages === undefined || pages === null ? undefined : readPages(pages, at, faults) };
}

const MOST_PAGES_NAMED = 1_000;

/** Parses a page selection: `3` or `"1,3-5"`. */
function readPages(value: unknown, at: Place, faults: Faults): number[] | undefined {
  const text = typeof value === 'number' ? String(value) : value;
  const pages: number[] = [];
  if (
    typeof text === 'string' &&
    /^\s*\d{1,6}(?:\s*-\s*\d{1,6})?(?:\s*,\s*\d{1,6}(?:\s*-\s*\d{1,6})?)*\s*$/.test(text)
  ) {
    for (const range of text.split(',')) {
      const [from = 0, to = from] = range.split('-').map(Number);
      for (let page = from; page <= to && pages.length <= MOST_PAGES_NAMED; page++) pages.push(page);
    }
  }
  if (pages.length > 0 && pages.length <= MOST_PAGES_NAMED && !pages.includes(0)) return pages;
  faults.add([...at.slice(0, -1), 'pages'], 'value_error', 'must name pages: `1,3-5`', value);
  return undefined;
}

const isObject = (value: unknown): value is Part =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function textAt(value: unknown, at: Place, faults: Faults): string | undefined {
  if (typeof value === 'string') return value;
  const isAbsent = value === undefined || value === null;
  faults.add(
    at,
    isAbsent ? 'missing' : 'string_type',
    isAbsent ? 'is required' : 'must be a string',
    value ?? undefined,
  );
  return undefined;
}
