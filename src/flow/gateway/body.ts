/** Reads a request body within a size limit and parses it as JSON. Errors are in the `detail` format. */
import type { IncomingMessage } from 'node:http';
import { Problem, problem } from '#errors.ts';
import { parseWithArrays } from '../json/arrays.ts';
import { BODY, type Issue, invalidAt, malformed } from '../json/index.ts';
import { findJsonError } from './json-error.ts';

const tooLarge = (maxBytes: number): Problem => {
  const message = `The body has more than ${maxBytes} bytes`;
  return problem('RequestPayloadTooLargeError', {
    message,
    detail: [{ loc: ['body'], msg: message, type: 'value_error.any_str.max_length', ctx: { limit_value: maxBytes } }],
  });
};

const brokenOff = (): Problem => problem('DataStreamBrokenError', { message: 'The body ended early' });

export interface BodyLimits {
  readonly maxBytes: number;
  /** Reserves part of the memory that all requests share; returns false if too little is left. */
  reserve(bytes: number): boolean;
}

const outOfMemory = (): Problem =>
  problem('ServiceNodeResourceDrainError', {
    message: 'The gateway has no memory left for request bodies; try again',
    retryAfter: 1,
  });

/**
 * Reads the whole body. Rejects with RequestPayloadTooLargeError, ServiceNodeResourceDrainError when other requests use
 * up the memory for bodies, or DataStreamBrokenError when the client disconnects.
 */
export function readBytes(request: IncomingMessage, { maxBytes, reserve }: BodyLimits): Promise<Buffer> {
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
      else if (!reserve(part.length)) refused = outOfMemory();
      else parts.push(part);
      if (!refused) return;
      parts.length = 0;
      reject(refused);
    });
    request.on('end', () => resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts)));
    request.on('error', () => reject(brokenOff()));
    request.on('close', () => {
      if (!request.complete) reject(brokenOff());
    });
  });
}

/** A missing or empty content type counts as JSON, because clients of the original framework send none. */
function isJson(contentType: string | undefined): boolean {
  const [type = ''] = (contentType ?? '').split(';', 1);
  return /^(?:application\/(?:[\w.-]+\+)?json)?$/i.test(type.trim());
}

/** Rejects with SubmittedDataMalformedError, whose `facts.detail` is the list of issues, or like `readBytes`. */
export async function readJson(request: IncomingMessage, limits: BodyLimits): Promise<unknown> {
  const bytes = await readBytes(request, limits);
  if (bytes.length === 0) throw invalidAt(BODY, 'missing');
  if (!isJson(request.headers['content-type'])) throw invalidAt(BODY, 'dict');
  const value = parseJson(bytes.toString('utf8'));
  if (value === null) throw invalidAt(BODY, 'missing');
  return value;
}

/**
 * Parses JSON; long lists of numbers become NdArrays (`parseWithArrays`). Throws SubmittedDataMalformedError with the
 * position of a syntax error, or when the values would use many times the memory of the text.
 */
export function parseJson(text: string): unknown {
  try {
    return parseWithArrays(text, parseBounded);
  } catch (error) {
    if (error instanceof Problem) throw error;
    const fault = findJsonError(text);
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

/** Texts shorter than this are not checked, because they cannot contain too many values. */
const UNCHECKED_LENGTH = 2 ** 20;
/**
 * Maximum number of objects, lists and keys. Each uses tens of bytes of memory, although its text may be only the two
 * characters `[]`.
 */
const MAX_CONTAINERS = 4_000_000;
const QUOTE = 0x22;
const COLON = 0x3a;
const BRACKET = 0x5b;
const BACKSLASH = 0x5c;
const BRACE = 0x7b;

function parseBounded(text: string): unknown {
  if (text.length >= UNCHECKED_LENGTH && countContainers(text) > MAX_CONTAINERS) {
    throw malformed([{ loc: ['body'], msg: 'too many lists, objects and keys', type: 'value_error.size' }]);
  }
  return JSON.parse(text);
}

function countContainers(text: string): number {
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
