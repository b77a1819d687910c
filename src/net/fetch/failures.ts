/** Error messages for failed connections and requests. They never contain internal IP addresses, ports or paths. */
import { Problem, problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';

/** The problem for a target that sent only an interim response (RFC 9110, section 15.2) or switched protocols. */
export const interimResponseOnly = (status: number, cause?: unknown): Problem =>
  problem(
    'AssertionFailureError',
    { targetStatus: status, message: `The target sent only the interim status ${status} and no final response` },
    cause,
  );

const MESSAGES: Record<string, string> = {
  ECONNREFUSED: 'The target refused the connection',
  ECONNRESET: 'The target closed the connection',
  EPIPE: 'The target closed the connection',
  UND_ERR_SOCKET: 'The target closed the connection',
  UND_ERR_ABORTED: 'The target closed the connection',
  UND_ERR_DESTROYED: 'The target closed the connection',
  ETIMEDOUT: 'The target could not be reached in time',
  EHOSTUNREACH: 'The target cannot be reached',
  ENETUNREACH: 'The target cannot be reached',
  EADDRNOTAVAIL: 'The target cannot be reached',
  UND_ERR_HEADERS_OVERFLOW: 'The headers of the target are too large',
  HPE_HEADER_OVERFLOW: 'The headers of the target are too large',
  EPROTO: 'No secure connection to the target could be established',
};

const CERTIFICATE_CODES = /^(?:CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_(?:GET|VERIFY|DECRYPT|DECODE)_)/;

/** Converts a connection or request error into AssertionFailureError. Problems are returned unchanged. */
export function networkProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  return problem('AssertionFailureError', { message: messageOf(error) }, error);
}

function messageOf(error: unknown): string {
  // Several IP addresses were tried; the last error is reported.
  const last = error instanceof AggregateError ? error.errors.at(-1) : error;
  const code = String((last as NodeJS.ErrnoException | undefined)?.code ?? '');
  if (CERTIFICATE_CODES.test(code)) return `The certificate of the target is not valid (${code})`;
  if (code.startsWith('ERR_SSL_') || code.startsWith('ERR_TLS_')) return MESSAGES.EPROTO!;
  if (code.startsWith('HPE_')) return ownValue(MESSAGES, code) ?? 'The target did not send a valid HTTP response';
  return ownValue(MESSAGES, code) ?? 'The target could not be fetched';
}
