/** Reads responses, and throws for those that cannot come from a Lectern server. */
import { isRecord, LecternError } from './errors.ts';

/** Properties of the target that the server reports in headers. */
function targetFacts(headers: Headers) {
  const [status, warning] = [headers.get('x-target-status'), headers.get('x-warning')];
  return { ...(status !== null && { targetStatus: Number(status) }), ...(warning !== null && { warning }) };
}

export async function bytesOf(response: Response) {
  return {
    bytes: new Uint8Array(await response.arrayBuffer()),
    type: response.headers.get('content-type') ?? 'application/octet-stream',
    ...targetFacts(response.headers),
  };
}

export async function jsonOf<T>(response: Response, url: string): Promise<T> {
  const text = await response.text();
  try {
    return JSON.parse(text) as T;
  } catch (cause) {
    throw unexpectedAnswer(response, { url, wanted: 'JSON', body: text }, cause);
  }
}

export const EVENT_STREAM = 'text/event-stream';
const typeOf = ({ headers }: Response) => headers.get('content-type') ?? 'no content type';

/** Throws `BAD_ANSWER` if the response is not an event stream. */
export async function requireEventStream(response: Response, url: string): Promise<void> {
  if (typeOf(response).startsWith(EVENT_STREAM)) return;
  throw unexpectedAnswer(response, { url, wanted: 'an event stream', body: await response.text() });
}

interface Expected {
  readonly url: string;
  readonly wanted: string;
  readonly body: string;
}

function unexpectedAnswer(response: Response, { url, wanted, body }: Expected, cause?: unknown): LecternError {
  const message = `${url} answered with ${typeOf(response)} instead of ${wanted}: is this a Lectern server?`;
  return new LecternError(
    { message, code: 'BAD_ANSWER', status: response.status, body: body.slice(0, 1000) },
    { cause },
  );
}

/** Whether the status is a redirect with a Location header (RFC 9110, section 15.4). */
export const isRedirect = (status: number) => [301, 302, 303, 307, 308].includes(status);

export async function redirectError(response: Response, url: string): Promise<LecternError> {
  await response.body?.cancel();
  // Browsers hide the Location of a redirect.
  const location = response.headers.get('location') ?? 'another URL';
  const message = `${url} redirects to ${location}: use the URL of the server itself`;
  return new LecternError({ message, code: 'BAD_ANSWER', status: response.status || undefined });
}

/**
 * Returns `data` of a response. Throws `BAD_ANSWER` if it has the wrong shape, which means that the server is probably
 * not Lectern.
 */
export function dataOf<T>(answer: { readonly data: T }, isRight: (data: unknown) => boolean): T {
  if (isRecord(answer) && isRight(answer.data)) return answer.data;
  const message = 'The response does not look like one from Lectern: is this a Lectern server?';
  throw new LecternError({ message, code: 'BAD_ANSWER', body: answer });
}
