/**
 * Converts one line of a job from the caller's JSON to the stored form (docs/reference/wire/models.md, Batch lines).
 */
import { JsonTooLargeError, parseJson } from '#http/json.ts';
import { EMBED_FIELDS } from '#models/index.ts';
import { ownValue } from '#own-value.ts';
import type { JobOptions } from './job.ts';

/** A stored line: texts to embed, or the reason why the line is invalid. */
export type StoredLine = {
  /** Line number, counted from 1. */
  readonly line: number;
  /** The caller's custom_id; null if it could not be parsed. */
  readonly id: string | null;
} & (
  | { readonly texts: readonly string[]; readonly options: JobOptions; readonly fault?: undefined }
  | { readonly fault: string }
);

export const MAX_LINE_BYTES = 2 * 1024 * 1024;
const MAX_ID = 256;
const MAX_TEXTS = 2_048;

/** Options that a line may override. */
const LINE_OPTIONS = ['task', 'dimensions', 'normalized', 'embedding_type', 'truncate'] as const;

/** Whether a name refers to the job's model. */
export type IsModel = (name: unknown) => boolean;

/** Creates a test that matches the names of a model, with or without the organization. */
export function namesOf(...names: readonly string[]): IsModel {
  const short = (name: string) => name.slice(name.lastIndexOf('/') + 1);
  const known = new Set(names.filter(Boolean).map(short));
  return (name) => typeof name === 'string' && known.has(short(name));
}

/** Parses a line of a file. `bytes` is undefined if the line is too long. */
export function readLine(bytes: Uint8Array | undefined, line: number, isModel: IsModel, endpoint?: string): StoredLine {
  if (!bytes) return { line, id: null, fault: `the line is longer than ${MAX_LINE_BYTES} bytes` };
  let value: unknown;
  try {
    value = parseJson(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch (error) {
    if (error instanceof JsonTooLargeError) return { line, id: null, fault: `the line ${error.message}` };
    return {
      line,
      id: null,
      fault: error instanceof TypeError ? 'the line is not UTF-8' : 'the line is not valid JSON',
    };
  }
  return readLineValue(value, line, isModel, endpoint);
}

/** Validates a parsed line. With `endpoint`, `method` and `url` of the line must be those of the endpoint. */
export function readLineValue(value: unknown, line: number, isModel: IsModel, endpoint?: string): StoredLine {
  if (!isObject(value)) return { line, id: null, fault: 'the line must be a JSON object' };
  const given = value.custom_id;
  if (given === undefined || given === null) return { line, id: null, fault: 'custom_id is required' };
  if (typeof given !== 'string') return { line, id: null, fault: 'custom_id must be a string' };
  if (!given || !isAtMost(given, MAX_ID))
    return { line, id: null, fault: `custom_id must have 1 to ${MAX_ID} characters` };
  const fault = (message: string): StoredLine => ({ line, id: given, fault: message });
  const { body, method = 'POST', url = endpoint } = value;
  if (endpoint !== undefined && url !== endpoint) return fault(`url must be ${endpoint}`);
  if (endpoint !== undefined && method !== 'POST') return fault('method must be POST');
  if (body === undefined || body === null) return fault('body is required');
  if (!isObject(body)) return fault('body must be an object');
  const { model, input } = body;
  if (model !== undefined && model !== null && !isModel(model)) {
    return fault('body.model must be the model of the job');
  }
  if (input === undefined || input === null) return fault('body.input is required');
  const texts = textsOf(input);
  return typeof texts === 'string' ? fault(texts) : { line, id: given, texts, options: optionsOf(body) };
}

/** Returns the texts, or a message that describes the fault. */
function textsOf(input: unknown): readonly string[] | string {
  if (!Array.isArray(input)) {
    const text = textOf(input);
    return text === undefined ? 'body.input must be a string, {text}, or a list of them' : [text];
  }
  if (!input.length) return 'body.input must have at least one item';
  if (input.length > MAX_TEXTS) return `body.input must have at most ${MAX_TEXTS} items`;
  const texts: string[] = [];
  for (const [index, item] of input.entries()) {
    const text = textOf(item);
    if (text === undefined) return `body.input[${index}] must be a string or {text}`;
    texts.push(text);
  }
  return texts;
}

function textOf(item: unknown): string | undefined {
  if (typeof item === 'string') return item;
  return isObject(item) && typeof item.text === 'string' ? item.text : undefined;
}

/** Returns the line options in a body, with aliases resolved. */
export function optionsOf(body: Readonly<Record<string, unknown>>): JobOptions {
  const options: Record<string, unknown> = {};
  for (const name of LINE_OPTIONS) {
    for (const at of [name, ...EMBED_FIELDS[name].aliases]) {
      const value = ownValue(body, at);
      if (value === undefined || value === null) continue;
      options[name] = value;
      break;
    }
  }
  return options;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether the text has at most `most` code points. Does not iterate over a very long text. */
function isAtMost(text: string, most: number): boolean {
  if (text.length <= most) return true;
  return text.length <= most * 2 && [...text].length <= most;
}
