/** Sends a request and tells what came, as it comes. */
import { type Call, WRITTEN_FILE_PLACE } from './call.ts';
import { readEvents, type StreamEvent } from './events.ts';

/** One event of a stream. */
export interface Arrived {
  readonly event: string;
  readonly data: unknown;
  readonly text: string;
  /** After the request was sent. */
  readonly atMs: number;
}

export interface Failure {
  readonly title: string;
  readonly message: string;
  /** The option or field at fault. */
  readonly path?: string | undefined;
  /** What the face calls it: a name or code, and the request's id. */
  readonly facts: readonly (readonly [string, string])[];
  readonly hint?: string | undefined;
}

export interface Answer {
  readonly call: Call;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly firstByteMs?: number;
  readonly ms: number;
  /** As it came; of a stream, the last event's. */
  readonly text: string;
  readonly json?: unknown;
  readonly events: readonly Arrived[];
  /** The address of a picture that is the answer itself. */
  readonly picture?: string;
  readonly failure?: Failure;
}

interface Sending {
  readonly apiKey: string;
  readonly signal: AbortSignal;
  readonly tell: (answer: Answer) => void;
}

const SHOW_MS = 40;

/** Never rejects: what goes wrong is in the answer. */
export async function send(call: Call, { apiKey, signal, tell }: Sending): Promise<void> {
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  let answer: Answer = { call, state: 'running', headers: {}, ms: 0, text: '', events: [] };
  const now = (change: Partial<Answer>) => {
    answer = { ...answer, ...change, ms: elapsed() };
    tell(answer);
  };
  now({});
  try {
    const headers = new Headers(call.headers);
    if (apiKey) headers.set('Authorization', `Bearer ${apiKey}`);
    const body = await bodyOf(call, headers);
    const reply = await fetch(call.url, { method: 'POST', headers, body, signal, referrerPolicy: 'no-referrer' });
    now({ status: reply.status, headers: Object.fromEntries(reply.headers), firstByteMs: elapsed() });
    const type = reply.headers.get('content-type') ?? '';
    if (type.startsWith('image/')) {
      now({ state: 'done', picture: URL.createObjectURL(await reply.blob()) });
    } else if (type.startsWith('text/event-stream') && reply.ok && reply.body) {
      await receive(readEvents(reply.body), { elapsed, now });
      const failed = answer.events.find(({ event, data }) => event === 'error' || isErrorChunk(data));
      now(failed ? { state: 'failed', failure: failureOf(answer, failed.data) } : { state: 'done' });
    } else {
      const text = await reply.text();
      const json = type.startsWith('application/json') ? parsed(text) : undefined;
      now({ text, json, state: 'done' });
      if (!reply.ok) now({ state: 'failed', failure: failureOf(answer, json ?? eventData(text)) });
    }
  } catch (error) {
    now(signal.aborted ? { state: 'stopped' } : { state: 'failed', failure: unreachable(call, error) });
  }
}

interface Receiving {
  readonly elapsed: () => number;
  readonly now: (change: Partial<Answer>) => void;
}

/** Tells what came, whether the stream ends or breaks. */
async function receive(stream: AsyncIterable<StreamEvent>, { elapsed, now }: Receiving): Promise<void> {
  const events: Arrived[] = [];
  let showing: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    showing = undefined;
    now({ events: [...events], text: events.at(-1)?.text ?? '' });
  };
  try {
    for await (const { event, data } of stream) {
      if (data === '[DONE]') continue;
      events.push({ event, data: parsed(data), text: data, atMs: elapsed() });
      // A model writes word by word: drawing each would take longer than the words.
      showing ??= setTimeout(show, SHOW_MS);
    }
  } finally {
    clearTimeout(showing);
    show();
  }
}

async function bodyOf({ body }: Call, headers: Headers): Promise<BodyInit> {
  if (body.kind === 'form') {
    const form = new FormData();
    for (const [name, value] of body.fields) form.append(name, value);
    const { blob, type, name } = body.file;
    form.append('file', new File([blob], name, { type }), name);
    return form;
  }
  headers.set('Content-Type', 'application/json');
  const json = JSON.stringify(body.value);
  if (!body.file) return json;
  const address = await dataUrlOf(body.file.blob, body.file.type);
  return json.replace(WRITTEN_FILE_PLACE, () => `"${address}"`);
}

function dataUrlOf(blob: Blob, type: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(`data:${type};base64,${String(reader.result).replace(/^[^,]*,/, '')}`);
    reader.onerror = () => reject(new Error('The file cannot be read any more: choose it again.'));
    reader.readAsDataURL(blob);
  });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const isErrorChunk = (data: unknown) => isRecord(data) && isRecord(data.error);

/** The data of a text that is one event, as failures of streams are. */
function eventData(text: string): unknown {
  const data = /^data: ?(.*)$/m.exec(text)?.[1];
  return data === undefined ? text.trim() : parsed(data);
}

export type Fields = Readonly<Record<string, unknown>>;
export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What the three envelopes of failures say (those of the reader, the model host and chat completions). */
function failureOf({ status, headers }: Answer, data: unknown): Failure {
  const body = isRecord(data) ? data : {};
  const inner = isRecord(body.error) ? body.error : body;
  const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
  const code = typeof inner.code === 'number' ? inner.code : status;
  const message = text(inner.message) ?? text(inner.detail) ?? text(data) ?? `The server answered ${status}.`;
  const retryAfter = headers['retry-after'] ?? (typeof inner.retryAfter === 'number' ? String(inner.retryAfter) : '');
  const facts: [string, string | undefined][] = [
    ['HTTP', code === undefined ? undefined : String(code)],
    ['Name', text(inner.name) ?? text(inner.code) ?? text(inner.type)],
    ['Status', typeof inner.status === 'number' ? String(inner.status) : undefined],
    ['Retry after', retryAfter ? `${retryAfter} s` : undefined],
    ['Request', headers['x-request-id'] ?? text(inner.request_id)],
  ];
  return {
    title: TITLES[code ?? 0] ?? 'The request failed',
    message,
    path: text(inner.path) ?? text(inner.param),
    facts: facts.filter((fact): fact is [string, string] => fact[1] !== undefined),
    hint: code === undefined ? undefined : HINTS[code],
  };
}

const TITLES: Readonly<Record<number, string>> = {
  400: 'Something in the request is not right',
  401: 'An API key is needed',
  402: 'This key may not do that',
  403: 'Not allowed',
  409: 'Refused',
  413: 'Too large',
  422: 'It could not be done',
  429: 'Too many requests',
  451: 'This address may not be read',
  503: 'The server is busy',
};

const HINTS: Readonly<Record<number, string>> = {
  401: '`lectern keys mint` on the server makes a key. Put it into “API key” above; it stays in this browser tab.',
  402: '`lectern keys list` shows what a key may do.',
  429: 'Wait a little, or use a key with a larger plan.',
};

function unreachable({ url }: Call, error: unknown): Failure {
  const { origin } = new URL(url);
  const isNetwork = error instanceof TypeError;
  return {
    title: isNetwork ? 'No answer' : 'The request could not be sent',
    message: isNetwork ? `Nothing answers at ${origin}.` : String((error as Error)?.message ?? error),
    facts: [],
    hint: isNetwork ? 'Is the server running, and is this address reached from your browser?' : undefined,
  };
}
