/** From what a person has set to one HTTP request, which is sent and from which every snippet is written. */
import type { FormField, PlaygroundSetup } from '../../src/api/pages/playground-types.ts';
import type { Draft, Values } from './state.ts';
import { type AnswerForm, type TabName, tabOf } from './tabs.ts';

export interface ChosenFile {
  readonly name: string;
  readonly type: string;
  readonly blob: Blob;
}

/** Stands in a body where the data URL of a file comes: what nobody can type. */
export const FILE_PLACE = '\u0001';
/** The same as JSON writes it: with its quotes no text can hold it. */
export const WRITTEN_FILE_PLACE = JSON.stringify(FILE_PLACE);

export type Body =
  | { readonly kind: 'json'; readonly value: Readonly<Record<string, unknown>>; readonly file?: ChosenFile }
  | { readonly kind: 'form'; readonly fields: readonly (readonly [string, string])[]; readonly file: ChosenFile };

export interface Call {
  readonly tab: TabName;
  readonly answer: AnswerForm;
  readonly url: string;
  /** Without Authorization and Content-Type. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body;
  /** What was given, for snippets in terms of the client. */
  readonly target: Readonly<Record<string, unknown>>;
  readonly options: Readonly<Record<string, unknown>>;
}

/** Why no request can be made of what is set; `field` is the name of the input or option at fault. */
export class Unready extends Error {
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
  /** The model that is taken when none is named. */
  readonly standardModel: string | undefined;
}

/** The request of a tab. Throws Unready. */
export function callOf(tab: TabName, draft: Draft, context: CallContext): Call {
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
      return modelCall(tab, draft, fields, context);
  }
}

function readCall(draft: Draft, fields: readonly FormField[], { setup, file }: CallContext): Call {
  const { inputs, options } = draft;
  const source = inputs.source ?? 'url';
  const { headers, body, all } = gatherOptions(fields, options);
  const shared = { tab: 'read', answer: draft.answer, url: `${setup.faces.reader}/`, options: all } as const;
  const asked = { Accept: ACCEPT[draft.answer], ...headers };
  if (source === 'file') {
    if (!file) throw new Unready('file', 'Choose a file to read.');
    const extra = Object.entries(body).flatMap(([name, value]) =>
      (Array.isArray(value) ? value : [value]).map((item) => [name, asText(item)] as const),
    );
    return { ...shared, headers: asked, body: { kind: 'form', fields: extra, file }, target: {} };
  }
  const url = inputs.url?.trim() ?? '';
  if (source === 'html' && !inputs.html?.trim()) throw new Unready('html', 'Paste the HTML to read.');
  if (source === 'url' && !url) throw new Unready('url', 'Type the address of a page.');
  const target = source === 'html' ? { html: inputs.html, ...(url && { url }) } : { url };
  return { ...shared, headers: asked, body: { kind: 'json', value: { ...target, ...body } }, target };
}

function searchCall(tab: 'search' | 'ask', draft: Draft, fields: readonly FormField[], { setup }: CallContext): Call {
  const base = faceOf(setup.faces.search, 'search host');
  const q = draft.inputs.q?.trim() ?? '';
  if (!q) throw new Unready('q', tab === 'ask' ? 'Ask something.' : 'Type what to search for.');
  const asking: Values = tab === 'ask' ? { provider: 'reader', passages: 'true', ...draft.options } : draft.options;
  const { headers, body, all } = gatherOptions(fields, asking);
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

const MODEL_PATHS = { embed: '/v1/embeddings', rerank: '/v1/rerank', ocr: '/v1/chat/completions' } as const;

function modelCall(
  tab: keyof typeof MODEL_PATHS,
  draft: Draft,
  fields: readonly FormField[],
  { setup, file, standardModel }: CallContext,
): Call {
  const url = faceOf(setup.faces.models, 'model host') + MODEL_PATHS[tab];
  const model = draft.inputs.model || standardModel;
  if (!model) throw new Unready('model', 'Name a model: this server lists none for this.');
  const { all: options } = gatherOptions(fields, draft.options);
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
    if (input.length === 0) throw new Unready('texts', 'Type a text to embed, or several, a line each.');
    return { input };
  }
  if (tab === 'rerank') {
    const query = inputs.query?.trim() ?? '';
    const documents = linesOf(inputs.documents);
    if (!query) throw new Unready('query', 'Type what the documents are ranked for.');
    if (documents.length === 0) throw new Unready('documents', 'Type the documents, a line each.');
    return { query, documents };
  }
  if (!file) throw new Unready('file', 'Choose a picture or a PDF file.');
  const part =
    file.type === 'application/pdf'
      ? { type: 'file', file: { filename: file.name, file_data: FILE_PLACE } }
      : { type: 'image_url', image_url: { url: FILE_PLACE } };
  const prompt = inputs.prompt?.trim();
  return { messages: [{ role: 'user', content: [...(prompt ? [{ type: 'text', text: prompt }] : []), part] }] };
}

function faceOf(address: string | null, name: string): string {
  if (address) return address;
  throw new Unready(
    'face',
    `This server cannot tell under which address its ${name} is reached from here: start it with LECTERN_PUBLIC_URL.`,
  );
}

export const linesOf = (text: string | undefined): string[] =>
  (text ?? '')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** Options by the place where they go: those that have a header there, the others in the body; all of them by name. */
function gatherOptions(fields: readonly FormField[], values: Values) {
  const headers: Record<string, string> = {};
  const body: Record<string, unknown> = {};
  const all: Record<string, unknown> = {};
  for (const field of fields) {
    const text = values[field.name];
    if (text === undefined) continue;
    const value = meantBy(field, text);
    if (value === undefined) continue;
    put(all, field.name, value);
    const header = headerTextOf(field, value);
    if (field.header && header !== undefined) headers[field.header] = header;
    else put(body, field.name, value);
  }
  return { headers, body, all };
}

/** `markdown.hr` goes into the object `markdown`. */
function put(target: Record<string, unknown>, name: string, value: unknown): void {
  const [option, member] = name.split('.') as [string, string?];
  if (member === undefined) target[option] = value;
  else target[option] = { ...(target[option] as object | undefined), [member]: value };
}

/** The value that a text in the form means; undefined when it means that nothing is given. Throws Unready. */
function meantBy({ name, kind }: FormField, text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  switch (kind) {
    case 'flag':
      return trimmed === 'true' || (trimmed === 'false' ? false : trimmed);
    case 'number': {
      const value = Number(trimmed);
      if (Number.isNaN(value)) throw new Unready(name, `${name} must be a number.`);
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
        throw new Unready(name, `${name} must be JSON.`);
      }
    default:
      return trimmed;
  }
}

/** A header holds one line of ASCII, and parts a list at its commas. */
function headerTextOf({ kind }: FormField, value: unknown): string | undefined {
  if (typeof value === 'object') return undefined;
  const text = String(value);
  if (!/^[\x20-\x7e]+$/.test(text) || (kind === 'list' && text.includes(', '))) return undefined;
  return text;
}

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));
