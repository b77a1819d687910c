/**
 * Builds one HTTP request from the form. The request is sent exactly as built, and all code snippets are generated from
 * it.
 */
import type { FormField, PlaygroundSetup } from '../../src/api/pages/playground-types.ts';
import type { Draft, Values } from './state.ts';
import { type AnswerForm, type TabName, tabOf } from './tabs.ts';

export interface ChosenFile {
  readonly name: string;
  readonly type: string;
  readonly blob: Blob;
}

/** Placeholder for the data URL of a file in a body: a character that nobody types. */
export const FILE_PLACEHOLDER = '\u0001';
/** The placeholder as JSON. Including its quotation marks, it cannot occur inside another string. */
export const FILE_PLACEHOLDER_JSON = JSON.stringify(FILE_PLACEHOLDER);

export type Body =
  | { readonly kind: 'json'; readonly value: Readonly<Record<string, unknown>>; readonly file?: ChosenFile }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [string, string])[]; readonly file: ChosenFile };

export interface Call {
  readonly tab: TabName;
  readonly answer: AnswerForm;
  readonly url: string;
  /** All headers except Authorization and Content-Type. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  /** The inputs, for snippets that use the client. */
  readonly target: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}

/** The form is incomplete or invalid. `field` names the input or option. */
export class DraftError extends Error {
  readonly field: string;
  constructor(field: string, message: string) {
    super(message);
    this.field = field;
  }
}

const ACCEPT: Readonly<Record<AnswerForm, string>> = {
  json: 'application/json',
  stream: 'text/event-stream',
  text: 'text/plain',
};

export interface CallContext {
  readonly setup: PlaygroundSetup;
  readonly file: ChosenFile | undefined;
  /** The model to use if the user chooses none. */
  readonly defaultModel: string | undefined;
}

/** Builds the request of a tab. Throws a DraftError. */
export function buildCall(tab: TabName, draft: Draft, context: CallContext): Call {
  const fields = context.setup.forms[tabOf(tab).form];
  switch (tab) {
    case 'read':
      return readCall(draft, fields, context);
    case 'search':
    case 'ask':
      return searchCall(tab, draft, fields, context);
    case 'embed':
    case 'rerank':
    case 'ocr':
    case 'batch':
      return modelCall(tab, draft, fields, context);
    case 'crawl':
      return crawlCall(draft, fields, context);
    case 'flow':
      return flowCall(draft, fields, context);
  }
}

function readCall(draft: Draft, fields: readonly FormField[], { setup, file }: CallContext): Call {
  const { inputs, options } = draft;
  const source = inputs.source ?? 'url';
  const { headers, body, all } = collectOptions(fields, options);
  const shared = { tab: 'read', answer: draft.answer, url: `${setup.faces.reader}/`, options: all } as const;
  const requestHeaders = { Accept: ACCEPT[draft.answer], ...headers };
  if (source === 'file') {
    if (!file) throw new DraftError('file', 'Choose a file to read.');
    const extra = Object.entries(body).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item) => [name, asText(item)] as const),
    );
    return { ...shared, headers: requestHeaders, body: { kind: 'form', fields: extra, file }, target: {} };
  }
  const url = inputs.url?.trim() ?? '';
  if (source === 'html' && !inputs.html?.trim()) throw new DraftError('html', 'Paste the HTML to read.');
  if (source === 'url' && !url) throw new DraftError('url', 'Enter the URL of a page.');
  const target = source === 'html' ? { html: inputs.html, ...(url && { url }) } : { url };
  return { ...shared, headers: requestHeaders, body: { kind: 'json', value: { ...target, ...body } }, target };
}

function searchCall(tab: 'search' | 'ask', draft: Draft, fields: readonly FormField[], { setup }: CallContext): Call {
  const base = requireFace(setup.faces.search, 'search host');
  const q = draft.inputs.q?.trim() ?? '';
  if (!q) throw new DraftError('q', tab === 'ask' ? 'Enter a question.' : 'Enter a query.');
  const asking: Values = tab === 'ask' ? { provider: 'reader', passages: 'true', ...draft.options } : draft.options;
  const { headers, body, all } = collectOptions(fields, asking);
  return {
    tab,
    answer: draft.answer,
    url: `${base}/search`,
    headers: { Accept: ACCEPT[draft.answer], ...headers },
    body: { kind: 'json', value: { q, ...body } },
    target: { q },
    options: all,
  };
}

function crawlCall(draft: Draft, fields: readonly FormField[], { setup }: CallContext): Call {
  const urls = linesOf(draft.inputs.urls);
  if (urls.length === 0) throw new DraftError('urls', 'Enter the URL where the crawl starts.');
  const { all: options } = collectOptions(fields, draft.options);
  const target = urls.length === 1 ? { url: urls[0] } : { urls };
  return {
    tab: 'crawl',
    answer: 'stream',
    url: `${setup.faces.reader}/crawl`,
    headers: { Accept: ACCEPT.stream },
    body: { kind: 'json', value: { ...target, ...options, cancelOnClose: true } },
    target,
    options,
  };
}

const DEFAULT_FLOW_ENDPOINT = '/search';

function flowCall(draft: Draft, fields: readonly FormField[], { setup }: CallContext): Call {
  const url = `${requireFace(setup.faces.flow, 'flow gateway')}/post`;
  const texts = linesOf(draft.inputs.documents);
  if (texts.length === 0) throw new DraftError('documents', 'Enter documents, one per line.');
  const { all: options } = collectOptions(fields, draft.options);
  const target = {
    data: texts.map((text) => (/^https?:\/\/\S+$/.test(text) ? { uri: text } : { text })),
    execEndpoint: draft.inputs.endpoint?.trim() || DEFAULT_FLOW_ENDPOINT,
  };
  const body = { kind: 'json', value: { ...target, ...options } } as const;
  return { tab: 'flow', answer: 'json', url, headers: { Accept: ACCEPT.json }, body, target, options };
}

const MODEL_PATHS = {
  embed: '/v1/embeddings',
  rerank: '/v1/rerank',
  ocr: '/v1/chat/completions',
  batch: '/v1/batch/embeddings',
} as const;

function modelCall(
  tab: keyof typeof MODEL_PATHS,
  draft: Draft,
  fields: readonly FormField[],
  { setup, file, defaultModel }: CallContext,
): Call {
  const url = requireFace(setup.faces.models, 'model host') + MODEL_PATHS[tab];
  const model = draft.inputs.model || defaultModel;
  if (!model) throw new DraftError('model', 'Enter a model id: this server lists no suitable model.');
  const { all: options } = collectOptions(fields, draft.options);
  const target = modelTarget(tab, draft.inputs, file);
  const stream = draft.answer === 'stream';
  return {
    tab,
    answer: draft.answer,
    url,
    headers: { Accept: ACCEPT[draft.answer] },
    body: {
      kind: 'json',
      value: {
        model,
        ...target,
        ...(stream && { stream: true, stream_options: { include_usage: true } }),
        ...options,
      },
      ...(tab === 'ocr' && file && { file }),
    },
    target: { model, ...target },
    options,
  };
}

function modelTarget(tab: keyof typeof MODEL_PATHS, inputs: Values, file: ChosenFile | undefined) {
  if (tab === 'embed') {
    const input = linesOf(inputs.texts);
    if (input.length === 0) throw new DraftError('texts', 'Enter texts to embed, one per line.');
    return { input };
  }
  if (tab === 'batch') {
    const texts = linesOf(inputs.texts);
    if (texts.length === 0) throw new DraftError('texts', 'Enter texts to embed, one per line.');
    return { input: texts.map((text, at) => ({ custom_id: `line-${at + 1}`, body: { input: text } })) };
  }
  if (tab === 'rerank') {
    const query = inputs.query?.trim() ?? '';
    const documents = linesOf(inputs.documents);
    if (!query) throw new DraftError('query', 'Enter a query to rank the documents by.');
    if (documents.length === 0) throw new DraftError('documents', 'Enter documents, one per line.');
    return { query, documents };
  }
  if (!file) throw new DraftError('file', 'Choose an image or PDF file.');
  const part =
    file.type === 'application/pdf'
      ? { type: 'file', file: { filename: file.name, file_data: FILE_PLACEHOLDER } }
      : { type: 'image_url', image_url: { url: FILE_PLACEHOLDER } };
  const prompt = inputs.prompt?.trim();
  return { messages: [{ role: 'user', content: [...(prompt ? [{ type: 'text', text: prompt }] : []), part] }] };
}

function requireFace(url: string | null, name: string): string {
  if (url) return url;
  throw new DraftError(
    'face',
    `This server does not know the public URL of its ${name}: set LECTERN_PUBLIC_URL and restart it.`,
  );
}

export const linesOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Sends each option as a header if it has one, and otherwise as a body field. `all` contains every option by name. */
function collectOptions(fields: readonly FormField[], values: Values) {
  const headers: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  const all: Record<string, unknown> = {};
  for (const field of fields) {
    const text = values[field.name];
    if (text === undefined) continue;
    const value = parseValue(field, text);
    if (value === undefined) continue;
    put(all, field.name, value);
    const header = headerTextOf(field, value);
    if (field.header && header !== undefined) headers[field.header] = header;
    else put(body, field.name, value);
  }
  return { headers, body, all };
}

/** Sets a value; `markdown.hr` sets the field `hr` of the object `markdown`. */
function put(target: Record<string, unknown>, name: string, value: unknown): void {
  const dot = name.indexOf('.');
  if (dot < 0) {
    target[name] = value;
    return;
  }
  const option = name.slice(0, dot);
  const inner = { ...(target[option] as Record<string, unknown> | undefined) };
  put(inner, name.slice(dot + 1), value);
  target[option] = inner;
}

/** Parses the text of a form field; `undefined` if it is empty. Throws a DraftError. */
function parseValue({ name, kind }: FormField, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  switch (kind) {
    case 'flag':
      return trimmed === 'true' || (trimmed === 'false' ? false : trimmed);
    case 'number': {
      const value = Number(trimmed);
      if (Number.isNaN(value)) throw new DraftError(name, `${name} must be a number.`);
      return value;
    }
    case 'list': {
      const lines = linesOf(text);
      return lines.length === 1 ? lines[0] : lines;
    }
    case 'json':
      try {
        return JSON.parse(trimmed);
      } catch {
        throw new DraftError(name, `${name} must be JSON.`);
      }
    default:
      return trimmed;
  }
}

/**
 * Returns a value as header text. Returns `undefined` if the value cannot be sent as a header, which must be ASCII and
 * uses commas to separate list items.
 */
function headerTextOf({ kind }: FormField, value: unknown): string | undefined {
  if (typeof value === 'object') return undefined;
  const text = String(value);
  if (!/^[\x20-\x7e]+$/.test(text) || (kind === 'list' && text.includes(', '))) return undefined;
  return text;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
