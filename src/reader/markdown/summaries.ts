/**
 * The lists of images and links after a page's content, as text and for JSON (docs/reference/wire/reader.md,
 * Summaries).
 */
import { escapeLinkText } from './escape.ts';
import { oneLine, withoutControlCharacters } from './one-line.ts';
import { encodeDestination, isSafeLink, isSafePicture } from './url.ts';

export interface Summary<Json> {
  /** Heading line and entries, without a trailing newline. */
  readonly text: string;
  readonly json: Json;
}

export interface SummaryImage {
  readonly url: string;
  readonly alt: string;
}

export interface NumberedImage extends SummaryImage {
  readonly index: number;
}

export type PageLink = readonly [text: string, url: string];

export interface CitedLink {
  readonly id?: number | undefined;
  readonly text: string;
  readonly url: string;
}

const NO_IMAGES = 'Images:\nThis page does not seem to contain any images.';
const NO_LINKS = 'Links/Buttons:\nThis page does not seem to contain any buttons/links.';

const line = (label: string, url: string, mark = ''): string =>
  `- ${mark}[${escapeLinkText(oneLine(label))}](${encodeDestination(withoutControlCharacters(url))})`;

/**
 * One entry per URL. An image in the content has the numbers that it has there (`Image 1,4: alt`). An image that is
 * only in the page is a `Hidden Image N`, where N is its position in the list.
 */
export function imagesSummary(
  page: readonly SummaryImage[],
  content: readonly NumberedImage[],
): Summary<Record<string, string>> {
  const entries = new Map<string, { numbers: number[]; alt: string }>();
  const entryFor = ({ url, alt }: SummaryImage) => {
    const entry = entries.get(url) ?? { numbers: [], alt };
    entry.alt ||= alt;
    entries.set(url, entry);
    return entry;
  };
  for (const image of page) if (isSafePicture(image.url)) entryFor(image);
  for (const image of content) entryFor(image).numbers.push(image.index);

  const json: Record<string, string> = Object.create(null);
  const lines: string[] = [];
  let position = 0;
  for (const [url, { numbers, alt }] of entries) {
    position += 1;
    const name = numbers.length > 0 ? `Image ${numbers.join(',')}` : `Hidden Image ${position}`;
    const label = oneLine(alt) === '' ? name : `${name}: ${oneLine(alt)}`;
    json[label] = url;
    lines.push(line(label, url, '!'));
  }
  return { text: lines.length === 0 ? NO_IMAGES : `Images:\n${lines.join('\n')}`, json: { ...json } };
}

export type LinksSummaryMode = 'unique' | 'all' | 'gpt-oss';

/**
 * The links of the page or, for `gpt-oss`, the targets of citations in the content. `unique`: one entry per URL with
 * its first text; in JSON, a repeated text maps to its last URL. `all`: every link in order. `gpt-oss`: id to URL. URLs
 * with unsafe schemes are dropped. Each text is one line.
 */
export function linksSummary(
  page: readonly PageLink[],
  shown: readonly CitedLink[],
  mode: LinksSummaryMode,
): Summary<Record<string, string> | [text: string, url: string][]> {
  if (mode === 'gpt-oss') return citationsSummary(shown);
  const kept: [text: string, url: string][] = [];
  const seen = new Set<string>();
  for (const [text, url] of page) {
    if (!isSafeLink(url)) continue;
    if (mode === 'unique') {
      if (seen.has(url)) continue;
      seen.add(url);
    }
    kept.push([oneLine(text), url]);
  }
  const lines = kept.map(([text, url]) => line(text, url));
  return { text: linksText(lines), json: mode === 'all' ? kept : Object.fromEntries(kept) };
}

const linksText = (lines: readonly string[]): string =>
  lines.length === 0 ? NO_LINKS : `Links/Buttons:\n${lines.join('\n')}`;

function citationsSummary(links: readonly CitedLink[]): Summary<Record<string, string>> {
  const json: Record<string, string> = {};
  const lines: string[] = [];
  for (const { id, url } of links) {
    if (id === undefined) continue;
    json[id] = url;
    lines.push(line(String(id), url));
  }
  return { text: linksText(lines), json };
}
