/**
 * From a request to the options a caller gave, by any table of options: each row says which headers carry it, whether
 * header or body wins when both do, and the schema of its value.
 */
import type { z } from 'zod';
import { problem } from '#errors.ts';
import { own } from '#own.ts';

export interface OptionSource {
  /** Header names in lower case; the first that is there counts. Empty: the option comes by query and body only. */
  readonly headers: readonly string[];
  readonly wins: 'header' | 'body';
  readonly schema: z.ZodType;
  /** A header's text as the schema's input; undefined when this text is to be ignored. As it is, by default. */
  readonly fromHeader?: (text: string) => unknown;
  /** Whether a file part of a form is its value; to other options a file is the text that it holds. */
  readonly takesFiles?: boolean;
  /** For options made of several headers: their texts to one input, or undefined when none is there. */
  readonly fromHeaders?: (header: (name: string) => string | undefined) => unknown;
}

export type OptionTable = Readonly<Record<string, OptionSource>>;

export type Given<Table extends OptionTable> = { -readonly [Name in keyof Table]?: z.output<Table[Name]['schema']> };

export interface Sources {
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/** The options that were given, checked. A value that fails is ParamValidationError with the option as `path`. */
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

/** The parsed value, or ParamValidationError that names the field and what is wrong with it. */
export function check<Schema extends z.ZodType>(name: string, schema: Schema, input: unknown): z.output<Schema> {
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  const [issue] = leaves(result.error.issues);
  const path = [name, ...(issue?.path ?? [])].join('.');
  throw problem('ParamValidationError', { path, message: `${path} ${sentence(issue)}`, value: shown(input) });
}

type Issue = z.core.$ZodIssue;

/** What zod says where the schema has no words of its own. */
const NO_WORDS = 'Invalid input';

/**
 * Of a union's branches, the complaints of the branch that came furthest; where all fail at once, what the union says
 * itself, or all that it would take.
 */
function leaves(issues: readonly Issue[]): readonly Issue[] {
  const [first] = issues;
  if (first?.code !== 'invalid_union' || !first.errors.length) return issues;
  const branches = first.errors.map((branch) => leaves(branch as readonly Issue[]));
  const furthest =
    branches.find(([issue]) => issue && !isMisfit(issue)) ?? branches.find(([issue]) => issue && issue.path.length > 0);
  if (furthest) return furthest;
  if (first.message !== NO_WORDS) return issues;
  return [{ ...first, message: `must be ${[...new Set(branches.flatMap(expected))].join(' or ')}` }];
}

/** Whether a value is simply not what a branch is for. */
const isMisfit = ({ code, message }: Issue): boolean =>
  code === 'invalid_type' || code === 'invalid_value' || message === NO_WORDS;

const expected = (issues: readonly Issue[]): string[] =>
  issues.flatMap((issue) => (issue.code === 'invalid_type' ? [article(issue.expected)] : []));

const article = (noun: string) => (/^[aeio]/.test(noun) ? `an ${noun}` : noun === 'null' ? 'null' : `a ${noun}`);

function sentence(issue: Issue | undefined): string {
  if (!issue) return 'is not valid';
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`;
  if (issue.code === 'invalid_type') return `must be ${article(issue.expected)}`;
  if (issue.code === 'unrecognized_keys') return `cannot have ${issue.keys.join(', ').slice(0, 100)}`;
  if (issue.message.startsWith('Too ') && issue.code === 'too_small')
    return bound(issue.origin, 'least', issue.minimum);
  if (issue.message.startsWith('Too ') && issue.code === 'too_big') return bound(issue.origin, 'most', issue.maximum);
  return issue.message;
}

const bound = (origin: string, side: 'least' | 'most', limit: number | bigint): string =>
  origin === 'string' ? `must have at ${side} ${limit} characters` : `must be at ${side} ${limit}`;

/** A value as it may be repeated in an error: short, and never a document. */
const shown = (input: unknown) =>
  typeof input === 'string' || typeof input === 'number' || typeof input === 'boolean'
    ? String(input).slice(0, 100)
    : undefined;

function headerInput(row: OptionSource, header: (name: string) => string | undefined): unknown {
  if (row.fromHeaders) return row.fromHeaders(header);
  for (const name of row.headers) {
    const text = header(name);
    if (text !== undefined) return row.fromHeader ? row.fromHeader(text) : text;
  }
  return undefined;
}

const bodyInput = (name: string, { body, query }: Sources): unknown => {
  if (body && Object.hasOwn(body, name) && body[name] !== undefined) return body[name];
  return query && own(query, name);
};

const asText = (input: unknown, { takesFiles }: OptionSource): unknown =>
  input instanceof Uint8Array && !takesFiles ? Buffer.from(input).toString('utf8') : input;

/** Header bytes arrive as Latin-1; texts that are UTF-8 underneath (selectors, names) are read as that. */
function headerText(value: string | string[] | undefined): string | undefined {
  const text = Array.isArray(value) ? value.join(', ') : value;
  if (text === undefined || !/[\u0080-\u00ff]/.test(text)) return text;
  const decoded = Buffer.from(text, 'latin1').toString('utf8');
  return decoded.includes('\ufffd') ? text : decoded;
}
