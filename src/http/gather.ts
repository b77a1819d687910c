/**
 * Collects a caller's options from headers, query and body, according to a table of options. Each row of the table
 * specifies the header names of the option, whether the header or the body takes precedence, and the schema of the
 * value.
 */
import type * as z from 'zod';
import { problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';

export interface OptionSource {
  /** Header names in lower case. The first one that is present is used. Empty if the option has no header. */
  readonly headers: readonly string[];
  readonly wins: 'header' | 'body';
  readonly schema: z.ZodType;
  /**
   * Converts the header text to the input of the schema. If it returns `undefined`, the header is ignored. Default: the
   * text itself.
   */
  readonly fromHeader?: (text: string) => unknown;
  /** Whether an uploaded file is passed as bytes. Other options receive its text. */
  readonly takesFiles?: boolean;
  /** For an object whose fields have headers of their own: maps each header to the field that it sets. */
  readonly headerFields?: Readonly<Record<string, string>>;
}

export type OptionTable = Readonly<Record<string, OptionSource>>;

export type Given<Table extends OptionTable> = { -readonly [Name in keyof Table]?: z.output<Table[Name]['schema']> };

export interface Sources {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** Returns the validated options that the caller set. Throws ParamValidationError with the option as `path`. */
export function gather<Table extends OptionTable>(table: Table, sources: Sources): Given<Table> {
  const header = (name: string) => headerText(sources.headers[name]);
  const given: Record<string, unknown> = {};
  for (const [name, row] of Object.entries(table)) {
    const fromHeader = headerInput(row, header);
    const fromBody = asText(bodyInput(name, sources), row);
    const input = row.wins === 'header' ? (fromHeader ?? fromBody) : (fromBody ?? fromHeader);
    if (input === undefined || input === null) continue;
    given[name] = check(name, row.schema, input);
  }
  return given as Given<Table>;
}

/** Parses a value. Throws ParamValidationError with a message that contains the field and the reason. */
export function check<Schema extends z.ZodType>(name: string, schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = leaves(result.error.issues);
  const path = [name, ...(issue?.path ?? [])].join('.');
  throw problem('ParamValidationError', { path, message: `${path} ${sentence(issue)}`, value: shown(input) });
}

type Issue = z.core.$ZodIssue;

/** zod's message if the schema does not define one. */
const DEFAULT_MESSAGE = 'Invalid input';

/**
 * Chooses which issues of a failed union to report: those of the branch that matched furthest. If no branch matched,
 * reports the union's own message, or a list of the types that it accepts.
 */
function leaves(issues: readonly Issue[]): readonly Issue[] {
  const [first] = issues;
  if (first?.code !== 'invalid_union' || !first.errors.length) return issues;
  const branches = first.errors.map((branch) => leaves(branch as readonly Issue[]));
  const furthest =
    branches.find(([issue]) => issue && !isMisfit(issue)) ?? branches.find(([issue]) => issue && issue.path.length > 0);
  // The paths of a branch start at the union.
  if (furthest) return furthest.map((issue) => ({ ...issue, path: [...first.path, ...issue.path] }));
  if (first.message !== DEFAULT_MESSAGE) return issues;
  return [{ ...first, message: `must be ${[...new Set(branches.flatMap(expected))].join(' or ')}` }];
}

/** Whether the issue is that the value has the wrong type for a branch. */
const isMisfit = ({ code, message }: Issue): boolean =>
  code === 'invalid_type' || code === 'invalid_value' || message === DEFAULT_MESSAGE;

const expected = (issues: readonly Issue[]): string[] =>
  issues.flatMap((issue) => (issue.code === 'invalid_type' ? [article(issue.expected)] : []));

const article = (noun: string) => (/^[aeio]/.test(noun) ? `an ${noun}` : noun === 'null' ? 'null' : `a ${noun}`);

function sentence(issue: Issue | undefined): string {
  if (!issue) return 'is invalid';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') return `must be ${article(issue.expected)}`;
  if (issue.code === 'unrecognized_keys') return `has unknown fields: ${issue.keys.join(', ').slice(0, 100)}`;
  if (issue.message.startsWith('Too ') && issue.code === 'too_small')
    return bound(issue.origin, 'least', issue.minimum);
  if (issue.message.startsWith('Too ') && issue.code === 'too_big') return bound(issue.origin, 'most', issue.maximum);
  return issue.message;
}

const bound = (origin: string, side: 'least' | 'most', limit: number | bigint): string =>
  origin === 'string' ? `must have at ${side} ${limit} characters` : `must be at ${side} ${limit}`;

/** The value shown in the error body: only scalars, at most 100 characters. */
const shown = (input: unknown) =>
  typeof input === 'string' || typeof input === 'number' || typeof input === 'boolean'
    ? String(input).slice(0, 100)
    : undefined;

/** Composes an object from the fields that headers set; `undefined` if no such header is present. */
function objectFromHeaders(fields: Readonly<Record<string, string>>, header: (name: string) => string | undefined) {
  const given = Object.entries(fields).flatMap(([name, field]) => {
    const text = header(name);
    return text === undefined ? [] : [[field, text]];
  });
  return given.length ? Object.fromEntries(given) : undefined;
}

function headerInput(row: OptionSource, header: (name: string) => string | undefined): unknown {
  if (row.headerFields) return objectFromHeaders(row.headerFields, header);
  for (const name of row.headers) {
    const text = header(name);
    if (text !== undefined) return row.fromHeader ? row.fromHeader(text) : text;
  }
  return undefined;
}

const bodyInput = (name: string, { body, query }: Sources): unknown => {
  if (body && Object.hasOwn(body, name) && body[name] !== undefined) return body[name];
  return query && ownValue(query, name);
};

const asText = (input: unknown, { takesFiles }: OptionSource): unknown =>
  input instanceof Uint8Array && !takesFiles ? Buffer.from(input).toString('utf8') : input;

/** Node decodes headers as Latin-1. If the text is valid UTF-8 (selectors, names), it is decoded again as UTF-8. */
function headerText(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(', ') : value;
  if (text === undefined || !/[\u0080-\u00ff]/.test(text)) return text;
  const decoded = Buffer.from(text, 'latin1').toString('utf8');
  return decoded.includes('\ufffd') ? text : decoded;
}
