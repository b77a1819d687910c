/** Errors that calls throw: one class for the error formats of all APIs. */

export interface Failure {
  readonly message: string;
  /** HTTP status; `undefined` without a response. */
  readonly status?: number | undefined;
  /**
   * Error code: five digits from the reader and search hosts (40001), a name from the model host
   * (`INPUT_MODEL_NOT_FOUND`), or one of the client's own codes: `TIMEOUT`, `UNREACHABLE`, `CUT_OFF`, `BAD_ANSWER`.
   */
  readonly code?: string | number | undefined;
  readonly name?: string | undefined;
  /** Invalid option or field. */
  readonly path?: string | undefined;
  readonly requestId?: string | undefined;
  /** The time to wait before a retry, as requested by the server. */
  readonly retryAfterMs?: number | undefined;
  /** Response body; parsed if it is JSON. */
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

/** There was no response: the host name is unknown, nothing listens at the URL, or the connection was lost. */
export class LecternUnreachable extends LecternError {
  /** URL of the request. */
  readonly url: string;

  constructor(url: string, cause: unknown) {
    const reason = reasonOf(cause);
    const message = `No response from ${url}${reason && `: ${reason}`}`;
    super({ message, code: 'UNREACHABLE', name: 'LecternUnreachable' }, { cause });
    this.url = url;
  }
}

/**
 * Returns the reason for a failed fetch. Node, Deno and Bun put the reason in `cause`; the error from `fetch` itself
 * says only "fetch failed".
 */
function reasonOf(error: unknown): string {
  for (const one of [(error as { cause?: unknown } | undefined)?.cause, error]) {
    const { code, message } = (one ?? {}) as { code?: unknown; message?: unknown };
    if (typeof message === 'string' && message) return message;
    if (typeof code === 'string' && code) return code;
  }
  return '';
}

/** Creates the error for a stream that ended early. */
export const streamInterrupted = (cause?: unknown): LecternError =>
  new LecternError({ message: 'The stream ended before it was complete', code: 'CUT_OFF' }, { cause });

type JsonRecord = Readonly<Record<string, unknown>>;

/** Creates the error for a response with a status of 400 or above. */
export function errorFromResponse(status: number, headers: Headers, text: string): LecternError {
  const body = parseJson(text);
  const retryAfterMs = parseRetryAfter(headers.get('retry-after'));
  const requestId = headers.get('x-request-id') ?? undefined;
  const failure = isRecord(body) ? parseFailure(body) : { message: text.trim().slice(0, 500) };
  const message = failure.message || `The server responded with status ${status} without a message`;
  return new LecternError({
    requestId,
    ...withoutUndefined(failure),
    message,
    status,
    retryAfterMs,
    body: body ?? text,
  });
}

/** Parses every error format: that of chat completions, that of the model host, and that of reader, search and flow. */
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

/** Parses seconds or a date (RFC 9110, section 10.2.3). */
function parseRetryAfter(header: string | null): number | undefined {
  if (!header) return undefined;
  const ms = /^\d+$/.test(header.trim()) ? Number(header) * 1000 : Date.parse(header) - Date.now();
  return Number.isFinite(ms) ? Math.max(ms, 0) : undefined;
}
