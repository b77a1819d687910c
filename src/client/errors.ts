/** What a call throws: one error for every envelope in which the faces answer failures. */

export interface Failure {
  readonly message: string;
  /** The HTTP status; unset when no answer came. */
  readonly status?: number | undefined;
  /**
   * What went wrong, for programs: the five-digit status of the reader and search hosts (40001), the word of the model
   * host (`INPUT_MODEL_NOT_FOUND`), or one of the client's own: `TIMEOUT`, `UNREACHABLE`, `CUT_OFF`, `BAD_ANSWER`.
   */
  readonly code?: string | number | undefined;
  readonly name?: string | undefined;
  /** The option or field that is at fault. */
  readonly path?: string | undefined;
  readonly requestId?: string | undefined;
  /** How long the server asks to wait before another try. */
  readonly retryAfterMs?: number | undefined;
  /** The body of the answer: an object when it was JSON. */
  readonly body?: unknown;
}

export class LecternError extends Error {
  readonly status: number | undefined;
  readonly code: string | number | undefined;
  readonly path: string | undefined;
  readonly requestId: string | undefined;
  readonly retryAfterMs: number | undefined;
  readonly body: unknown;

  constructor(failure: Failure, options?: { cause?: unknown }) {
    super(failure.message, options);
    this.name = failure.name ?? 'LecternError';
    this.status = failure.status;
    this.code = failure.code;
    this.path = failure.path;
    this.requestId = failure.requestId;
    this.retryAfterMs = failure.retryAfterMs;
    this.body = failure.body;
  }
}

/** No answer came: nobody listens at the address, its name is unknown, or the connection broke. */
export class LecternUnreachable extends LecternError {
  /** The address that was tried. */
  readonly url: string;

  constructor(url: string, cause: unknown) {
    const reason = reasonOf(cause);
    const message = `No answer from ${url}${reason && `: ${reason}`}`;
    super({ message, code: 'UNREACHABLE', name: 'LecternUnreachable' }, { cause });
    this.url = url;
  }
}

/** What `fetch` says is "fetch failed"; the reason is the cause of that, which has a code in Node, Deno and Bun. */
function reasonOf(error: unknown): string {
  for (const one of [(error as { cause?: unknown } | undefined)?.cause, error]) {
    const { code, message } = (one ?? {}) as { code?: unknown; message?: unknown };
    if (typeof message === 'string' && message) return message;
    if (typeof code === 'string' && code) return code;
  }
  return '';
}

/** For a stream without its end. */
export const streamCut = (cause?: unknown): LecternError =>
  new LecternError({ message: 'The stream ended in the middle', code: 'CUT_OFF' }, { cause });

type JsonRecord = Readonly<Record<string, unknown>>;

/** The failure in an answer with a status of 400 or more. */
export function errorFromResponse(status: number, headers: Headers, text: string): LecternError {
  const body = parseJson(text);
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'));
  const requestId = headers.get('x-request-id') ?? undefined;
  const said = isRecord(body) ? parseFailure(body) : { message: text.trim().slice(0, 500) };
  const message = said.message || `The server answered ${status} and said nothing`;
  return new LecternError({ requestId, ...withoutUndefined(said), message, status, retryAfterMs, body: body ?? text });
}

/** Reads each of the envelopes: the reader's, that of chat completions, the flat one, and the flow's. */
export function parseFailure(body: JsonRecord): Omit<Failure, 'status' | 'retryAfterMs' | 'body'> {
  if (isRecord(body.error)) {
    const { message, code, type, param, request_id } = body.error;
    return {
      message: textOf(message) ?? '',
      code: codeOf(code) ?? codeOf(type),
      path: textOf(param),
      requestId: textOf(request_id),
    };
  }
  if (body.detail !== undefined) {
    const [first] = Array.isArray(body.errors) ? (body.errors as unknown[]) : [];
    return {
      message: textOf(body.detail) ?? JSON.stringify(body.detail),
      code: codeOf(body.code),
      path: isRecord(first) ? textOf(first.field) : undefined,
      requestId: textOf(body.request_id),
    };
  }
  return {
    message: textOf(body.readableMessage) ?? textOf(body.message) ?? '',
    code: codeOf(body.status) ?? codeOf(body.code),
    name: textOf(body.name),
    path: textOf(body.path),
  };
}

const textOf = (value: unknown) => (typeof value === 'string' && value ? value : undefined);
const codeOf = (value: unknown) => (typeof value === 'number' ? value : textOf(value));
export const isRecord = (value: unknown): value is JsonRecord =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const withoutUndefined = <T extends object>(value: T): T =>
  Object.fromEntries(Object.entries(value).filter(([, one]) => one !== undefined)) as T;

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Seconds, or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(header: string | null): number | undefined {
  if (!header) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
