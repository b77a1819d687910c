/** Sends a request and reports the response as it arrives. */
import { followBatch } from './batch-job.ts';
import { type Call, FILE_PLACEHOLDER_JSON } from './call.ts';
import { readEvents, type StreamEvent } from './events.ts';
import { type Fields, isRecord } from './fields.ts';

/** One event of a stream. */
export interface ReceivedEvent {
  readonly event: string;
  readonly data: unknown;
  readonly text: string;
  /** Time since the request was sent. */
  readonly atMs: number;
}

export interface Failure {
  readonly title: string;
  readonly message: string;
  /** Invalid option or field. */
  readonly path?: string | undefined;
  /** Error name or code, request id and similar data. */
  readonly facts: readonly (readonly [string, string])[];
  readonly hint?: string | undefined;
}

export interface Answer {
  readonly call: Call;
  /** When the request was sent, as `performance.now()`. */
  readonly startedAt: number;
  readonly state: 'running' | 'done' | 'stopped' | 'failed';
  readonly status?: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly firstByteMs?: number;
  readonly ms: number;
  /** The response body; for a stream, the data of the last event. */
  readonly text: string;
  readonly json?: unknown;
  readonly events: readonly ReceivedEvent[];
  /** URL of the image, if the response is an image. */
  readonly picture?: string;
  readonly failure?: Failure;
}

interface Sending {
  readonly apiKey: string;
  readonly signal: AbortSignal;
  readonly onAnswer: (answer: Answer) => void;
}

const UPDATE_INTERVAL_MS = 40;

/** Sends a request. Never rejects, because failures are reported in the response. */
export async function send(call: Call, { apiKey, signal, onAnswer }: Sending): Promise<void> {
  const started = performance.now();
  const elapsed = () => performance.now() - started;
  let answer: Answer = { call, startedAt: started, state: 'running', headers: {}, ms: 0, text: '', events: [] };
  const now = (change: Partial<Answer>) => {
    answer = { ...answer, ...change, ms: elapsed() };
    onAnswer(answer);
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
      if (call.tab === 'batch' && reply.ok) {
        const follow = { apiKey, signal, onProgress: (job: Fields) => now({ text, json: job }) };
        const { job, lines } = await followBatch(call.url, json as Fields, follow);
        const events = lines.map(({ event, data }) => ({ event, data, text: JSON.stringify(data), atMs: elapsed() }));
        return now({ text, json: job, events, state: 'done' });
      }
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

/** Reports events as they arrive, including the last ones before the connection is lost. */
async function receive(stream: AsyncIterable<StreamEvent>, { elapsed, now }: Receiving): Promise<void> {
  const events: ReceivedEvent[] = [];
  let showing: ReturnType<typeof setTimeout> | undefined;
  const show = () => {
    showing = undefined;
    now({ events: [...events], text: events.at(-1)?.text ?? '' });
  };
  try {
    for await (const { event, data } of stream) {
      if (data === '[DONE]') continue;
      events.push({ event, data: parsed(data), text: data, atMs: elapsed() });
      // Throttled, because a model streams word by word, and rendering after each word would be too slow.
      showing ??= setTimeout(show, UPDATE_INTERVAL_MS);
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
  const dataUrl = await dataUrlOf(body.file.blob, body.file.type);
  return json.replace(FILE_PLACEHOLDER_JSON, () => `"${dataUrl}"`);
}

function dataUrlOf(blob: Blob, type: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(`data:${type};base64,${String(reader.result).replace(/^[^,]*,/, '')}`);
    reader.onerror = () => reject(new Error('The file can no longer be read: choose it again.'));
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

/** Returns the data of a response that consists of a single event, such as an error of a streaming endpoint. */
function eventData(text: string): unknown {
  const data = /^data: ?(.*)$/m.exec(text)?.[1];
  return data === undefined ? text.trim() : parsed(data);
}

/** Parses the three error formats: reader, model host and chat completions. */
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
  400: 'Invalid request',
  401: 'API key required',
  402: 'The plan or balance does not allow this',
  403: 'Not allowed',
  409: 'Refused',
  413: 'Too large',
  422: 'The request could not be processed',
  429: 'Too many requests',
  451: 'This URL may not be read',
  503: 'The server is busy',
};

const HINTS: Readonly<Record<number, string>> = {
  401: 'Create a key with `lectern keys mint` on the server and enter it as “API key” above. It stays in this browser tab.',
  402: '`lectern accounts list` on the server shows plans and balances.',
  429: 'Wait, or use a key with a larger plan.',
};

function unreachable({ url }: Call, error: unknown): Failure {
  const { origin } = new URL(url);
  const isNetwork = error instanceof TypeError;
  return {
    title: isNetwork ? 'No answer' : 'The request could not be sent',
    message: isNetwork ? `No response from ${origin}.` : String((error as Error)?.message ?? error),
    facts: [],
    hint: isNetwork ? 'Check that the server is running and that your browser can reach this URL.' : undefined,
  };
}
