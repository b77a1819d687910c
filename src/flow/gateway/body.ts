/** The body of a request: its bytes within a limit, and JSON out of them with failures in the `detail` form. */
import type { IncomingMessage } from 'node:http';
import { Problem, problem } from '#errors.ts';
import { BODY, type Issue, malformed, wrong } from '../json.ts';
import { parseWithArrays } from '../json-arrays.ts';
import { findFault } from './json-fault.ts';

const tooLarge = (maxBytes: number): Problem => {
  const message = `The body has more than ${maxBytes} bytes`;
  return problem('RequestPayloadTooLargeError', {
    message,
    detail: [{ loc: ['body'], msg: message, type: 'value_error.any_str.max_length', ctx: { limit_value: maxBytes } }],
  });
};

const gone = (): Problem => problem('DataStreamBrokenError', { message: 'The body broke off before its end' });

export interface BodyLimits {
  readonly maxBytes: number;
  /** Takes so many bytes of what all requests may hold together; false when there are none left. */
  take(bytes: number): boolean;
}

const full = (): Problem =>
  problem('ServiceNodeResourceDrainError', {
    message: 'The gateway holds as many bodies as it can, try again',
    retryAfter: 1,
  });

/**
 * Rejects with RequestPayloadTooLargeError, ServiceNodeResourceDrainError when other requests leave no room, or
 * DataStreamBrokenError when the client has gone.
 */
export function readBytes(request: IncomingMessage, { maxBytes, take }: BodyLimits): Promise<Buffer> {
  const announced = Number(request.headers['content-length']);
  if (announced > maxBytes) return Promise.reject(tooLarge(maxBytes));
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let bytes = 0;
    let refused: Problem | undefined;
    request.on('data', (part: Buffer) => {
      if (refused) return;
      bytes += part.length;
      if (bytes > maxBytes) refused = tooLarge(maxBytes);
      else if (!take(part.length)) refused = full();
      else parts.push(part);
      if (!refused) return;
      parts.length = 0;
      reject(refused);
    });
    request.on('end', () => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    request.on('error', () => reject(gone()));
    request.on('close', () => {
      if (!request.complete) reject(gone());
    });
  });
}

/** A missing or empty type counts: clients of the original send JSON without one. */
function isJson(contentType: string | undefined): boolean {
  const [type = ''] = (contentType ?? '').split(';', 1);
  return /^(?:application\/(?:[\w.-]+\+)?json)?$/i.test(type.trim());
}

/** Rejects with SubmittedDataMalformedError whose fact `detail` is a list of issues, or as `readBytes` does. */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) throw wrong(BODY, 'missing');
  if (!isJson(request.headers['content-type'])) throw wrong(BODY, 'dict');
  const value = parse(bytes.toString('utf8'));
  if (value === null) throw wrong(BODY, 'missing');
  return value;
}

/**
 * A JSON value in which long lists of numbers are arrays already (`parseWithArrays`). Throws SubmittedDataMalformedError
 * that says where it goes wrong, or that it would take a multiple of its size as values.
 */
export function parse(text: string): unknown {
  try {
    return parseWithArrays(text, parseBounded);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const fault = findFault(text);
    const { msg, pos, lineno, colno } = fault;
    const issue: Issue = {
      loc: ['body', pos],
      msg: `${msg}: line ${lineno} column ${colno} (char ${pos})`,
      type: 'value_error.jsondecode',
      ctx: { ...fault },
    };
    throw malformed([issue]);
  }
}

/** A shorter text can't hold enough values to matter. */
const UNCHECKED_LENGTH = 2 ** 20;
/** Objects, lists and keys: each takes tens of bytes in memory for the two of `[]`. */
const MAX_CONTAINERS = 4_000_000;
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

function parseBounded(text: string): unknown {
  if (text.length >= UNCHECKED_LENGTH && containersIn(text) > MAX_CONTAINERS) {
    throw malformed([{ loc: ['body'], msg: 'there are too many lists, objects and keys', type: 'value_error.size' }]);
  }
  return JSON.parse(text);
}

function containersIn(text: string): number {
  let containers = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === BRACKET || code === BRACE || code === COLON) containers++;
  }
  return containers;
}

function endOfString(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end >= 0; end = text.indexOf('"', end + 1)) {
    let escapes = end;
    while (text.charCodeAt(escapes - 1) === BACKSLASH) escapes--;
    if ((end - escapes) % 2 === 0) return end;
  }
  return text.length;
}
