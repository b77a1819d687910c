/** Validates the `customHeader` option: additional headers for requests to the target. */
import { problem } from '#errors.ts';
import { setOwnValue } from '#own-value.ts';

/** Headers that belong to the connection, so that callers must not set them. */
const FORBIDDEN_HEADERS = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);
const MAX_BYTES = 16 * 1024;

/**
 * Returns the headers with names in lower case. Throws ParamValidationError with `path` set to `customHeader` if one
 * cannot be sent.
 */
export function checkCustomHeaders(custom: Readonly<Record<string, string>> = {}): Record<string, string> {
  const checked: Record<string, string> = {};
  let bytes = 0;
  for (const [given, value] of Object.entries(custom)) {
    const name = given.toLowerCase();
    bytes += name.length + value.length;
    const isSendable = /^[!#$%&'*+\-.^_`|~0-9a-z]+$/.test(name) && !/[^\t\x20-\x7e\x80-\xff]/.test(value);
    if (!isSendable || FORBIDDEN_HEADERS.has(name)) throw invalid(`The header ${given.slice(0, 100)} cannot be sent`);
    if (bytes > MAX_BYTES) throw invalid(`The custom headers are larger than ${MAX_BYTES} bytes`);
    setOwnValue(checked, name, value);
  }
  return checked;
}

const invalid = (message: string) => problem('ParamValidationError', { path: 'customHeader', message });
