/** Converts one source for docling-serve's clients. A source that cannot be read is a result with a failure. */
import { TYPES } from '#documents/detect.ts';
import { asProblem, Problem } from '#errors.ts';
import type { Upload } from '#http/body.ts';
import { ownValue } from '#own-value.ts';
import type { ContentElement, Rendition } from '#reader/index.ts';
import type { CompatCall } from '../dialect.ts';
import { replaceImages } from '../documents/markdown-images.ts';
import { pageTexts } from '../documents/page-texts.ts';
import { dataUrlsOf, withDataUrls } from '../documents/pictures.ts';
import { elementsText } from '../documents/text.ts';
import { elementsXhtml, escapeXml, pagesXhtml, type WritePicture } from '../documents/xhtml.ts';
import { renamePath } from '../fields.ts';
import type { ReadAnswer } from '../native/read.ts';
import { doclingDocument } from './docling-document.ts';
import type { DoclingOptions } from './options.ts';

export type Source =
  | { readonly kind: 'file'; readonly file: Upload }
  | { readonly kind: 'http'; readonly url: string; readonly headers: Readonly<Record<string, string>> };

export interface DoclingResult {
  readonly document: {
    readonly filename: string;
    readonly md_content: string | null;
    readonly json_content: object | null;
    readonly html_content: string | null;
    readonly text_content: string | null;
    readonly doctags_content: null;
  };
  readonly status: 'success' | 'partial_success' | 'failure' | 'skipped';
  readonly errors: readonly { component_type: string; module_name: string; error_message: string }[];
  readonly processing_time: number;
  readonly timings: Readonly<Record<string, never>>;
}

const PLACEHOLDER = '<!-- image -->';
const MAX_TIMEOUT_S = 180;
/** Problems that concern the caller or the server and not one source. */
const OF_REQUEST: ReadonlySet<number> = new Set([401, 402, 403, 429, 503]);
const FIELD_NAMES = { url: 'sources.url', file: 'files', customHeader: 'sources.headers', timeout: 'document_timeout' };

export async function convert(
  call: CompatCall,
  source: Source,
  options: DoclingOptions,
  signal?: AbortSignal,
): Promise<DoclingResult> {
  const startedAt = performance.now();
  const filename = filenameOf(source);
  const finish = (
    status: DoclingResult['status'],
    contents: Partial<DoclingResult['document']>,
    messages: string[],
  ) => ({
    document: {
      filename,
      md_content: null,
      json_content: null,
      html_content: null,
      text_content: null,
      doctags_content: null,
      ...contents,
    },
    status,
    errors: messages.map((message) => ({
      component_type: 'document_backend',
      module_name: 'lectern',
      error_message: message,
    })),
    processing_time: Math.round(performance.now() - startedAt) / 1_000,
    timings: {},
  });
  try {
    const answer = await call.native.read(call, toReadFields(source, options), {
      elements: true,
      ...(signal && { signal }),
    });
    const kind = kindOf(answer.rendition.mediaType ?? '');
    if (options.from_formats && !options.from_formats.includes(kind)) {
      return finish('skipped', {}, [`from_formats does not include ${kind}`]);
    }
    if (answer.page.blocked) {
      return finish('failure', {}, [`The site sent another page in place of the content: ${answer.page.blocked.kind}`]);
    }
    return finish('success', contentsOf(answer, filename, options), answer.page.warning?.split('\n') ?? []);
  } catch (error) {
    signal?.throwIfAborted();
    const failure = renamePath(asProblem(error), FIELD_NAMES);
    if (failure instanceof Problem && (OF_REQUEST.has(failure.code) || isInvalid(failure))) throw failure;
    return finish('failure', {}, [failure.message]);
  }
}

/** A refused URL is an invalid field, as natively. */
const isInvalid = ({ name }: Problem) => name === 'ParamValidationError' || name === 'SecurityCompromiseError';

function toReadFields(source: Source, options: DoclingOptions): Record<string, unknown> {
  const { image_export_mode: mode, page_range: range, document_timeout: timeout } = options;
  return {
    ...(source.kind === 'file' ? { file: source.file } : { url: source.url }),
    ...(source.kind === 'http' && Object.keys(source.headers).length > 0 && { customHeader: source.headers }),
    ...(range && range[0] === range[1] && { page: range[0] }),
    ...(timeout !== undefined && { timeout: Math.min(timeout, MAX_TIMEOUT_S) }),
    ...(mode !== 'placeholder' && { retainImages: 'all' }),
    ...(!options.include_images && { retainImages: 'none' }),
  };
}

function contentsOf({ page, rendition }: ReadAnswer, filename: string, options: DoclingOptions) {
  const { to_formats: formats, page_range: range } = options;
  const isInRange = (number: number | undefined) =>
    !range || number === undefined || (number >= range[0] && number <= range[1]);
  const shown = (rendition.elements ?? []).filter((element) => isInRange(element.page));
  const elements = options.image_export_mode === 'embedded' ? withDataUrls(shown, rendition) : shown;
  const name = filename.replace(/\.[^.]+$/, '');
  const source = { name, filename, mediaType: rendition.mediaType ?? '', pages: page.pages };
  const picture = pictureWriter(options);
  return {
    ...(formats.has('md') && {
      md_content: markdownOf(
        pageTexts(page)
          .filter(({ number }) => page.pages === undefined || isInRange(number))
          .map(({ text }) => text),
        rendition,
        options,
      ),
    }),
    ...(formats.has('text') && { text_content: elementsText(elements) }),
    ...(formats.has('html') && { html_content: htmlDocument(page.title, elementsXhtml(elements, picture)) }),
    ...(formats.has('html_split_page') && { html_content: htmlDocument(page.title, pagesXhtml(elements, picture)) }),
    ...(formats.has('json') && { json_content: doclingDocument(withoutServed(elements, options), source) }),
  };
}

function markdownOf(pages: readonly string[], rendition: Rendition, options: DoclingOptions): string {
  const { image_export_mode: mode, md_page_break_placeholder: placeholder } = options;
  const joined = pages.filter(Boolean).join(placeholder ? `\n\n${placeholder}\n\n` : '\n\n');
  if (mode === 'placeholder') return replaceImages(joined, () => PLACEHOLDER);
  if (mode === 'referenced') return joined;
  const dataUrls = dataUrlsOf(rendition);
  return replaceImages(joined, ({ url, alt }) => `![${alt}](${dataUrls.get(url) ?? url})`);
}

const pictureWriter =
  ({ image_export_mode: mode }: DoclingOptions): WritePicture =>
  ({ url = '', text }) =>
    mode === 'placeholder' ? PLACEHOLDER : `<img src="${escapeXml(url)}" alt="${escapeXml(text)}"/>`;

/** Pictures of the JSON have no URL unless they were asked for. */
const withoutServed = (elements: readonly ContentElement[], { image_export_mode: mode }: DoclingOptions) =>
  mode === 'placeholder' ? elements.map(({ url: _, ...element }) => element) : elements;

const htmlDocument = (title: string, body: string): string =>
  `<!DOCTYPE html>\n<html><head><meta charset="UTF-8"/><title>${escapeXml(title)}</title></head>\n<body>\n${body}\n</body></html>`;

function filenameOf(source: Source): string {
  if (source.kind === 'file') return source.file.filename ?? 'file';
  const path = /^[^?#]*/.exec(source.url.replace(/^[a-z]+:\/\/[^/]*/i, ''))![0];
  const last = path.split('/').filter(Boolean).at(-1) ?? 'index.html';
  try {
    return decodeURIComponent(last);
  } catch {
    return last;
  }
}

/** The names of `from_formats`. */
const KINDS: Readonly<Record<string, string>> = {
  [TYPES.pdf]: 'pdf',
  [TYPES.docx]: 'docx',
  [TYPES.doc]: 'docx',
  [TYPES.pptx]: 'pptx',
  [TYPES.ppt]: 'pptx',
  [TYPES.xlsx]: 'xlsx',
  [TYPES.xls]: 'xlsx',
  [TYPES.csv]: 'csv',
  'text/html': 'html',
  'application/xhtml+xml': 'html',
  'text/markdown': 'md',
  'text/plain': 'md',
};

const kindOf = (mediaType: string): string =>
  ownValue(KINDS, mediaType) ?? (mediaType.startsWith('image/') ? 'image' : (mediaType.split(/[/.]/).at(-1) ?? ''));
