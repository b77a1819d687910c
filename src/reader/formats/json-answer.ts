/**
 * Structured answers: the caller's schema, and whether what a model wrote keeps to it. Schema and text are hostile, and
 * patterns in a schema may run for ever: this belongs in a thread that can be ended.
 */
import { problem } from '#errors.ts';
import { withoutWrapping } from './written.ts';

export interface JsonCheck {
  /** What was written, letter by letter, when it is JSON at all: numbers keep all their digits. */
  readonly json?: string | undefined;
  /** What is wrong with it, the first first; none when it keeps to the schema. */
  readonly violations: readonly string[];
}

/** Beyond these a schema is no description of an answer any more. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;
const MAX_SCHEMA_DEPTH = 64;
const MAX_VIOLATIONS = 20;

type Validate = ((value: unknown) => boolean) & {
  errors?: null | { readonly instancePath: string; readonly message?: string; readonly params: object }[];
};

/**
 * ParamValidationError with path `jsonSchema` for a schema that cannot be used: not valid, too large, or pointing at
 * another document, which is never fetched. Without `text` only the schema is looked at.
 */
export async function checkJson(schema: object, text?: string): Promise<JsonCheck> {
  const validate = await compiled(schema);
  if (text === undefined) return { violations: [] };
  const found = jsonIn(text);
  if (!found) return { violations: ['the answer is no JSON'] };
  const { json, value } = found;
  if (validate(value)) return { json, violations: [] };
  return { json, violations: (validate.errors ?? []).slice(0, MAX_VIOLATIONS).map(inWords) };
}

const inWords = ({ instancePath, message, params }: NonNullable<Validate['errors']>[number]): string => {
  const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty).slice(0, 100)})` : '';
  return `${instancePath.slice(0, 200) || 'the answer'} ${message ?? 'is not valid'}${extra}`;
};

async function compiled(schema: object): Promise<Validate> {
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA_CHARACTERS) throw refused('is too large');
  // The validator passes over rules for it.
  if (text.includes('"__proto__":')) throw refused('cannot have the key __proto__');
  if (depthOf(schema) > MAX_SCHEMA_DEPTH) throw refused('is nested too deeply');
  const draft = '$schema' in schema ? String(schema.$schema) : '';
  const { default: addFormats } = await import('ajv-formats');
  const ajv = new (await dialect(draft))({
    strict: false,
    allErrors: true,
    logger: false,
    // Objects inherit constructor, toString and others, which nobody has written.
    ownProperties: true,
  });
  addFormats.default(ajv);
  // Drafts are told apart by now; whatever else `$schema` says is not looked up.
  const { $schema: _, ...rules } = schema as Record<string, unknown>;
  if ('$async' in rules) throw refused('must not be asynchronous');
  try {
    return ajv.compile(rules) as Validate;
  } catch (error) {
    throw refused(`is not valid: ${(error as Error).message.slice(0, 300)}`, error);
  }
}

/** The validator of a draft; the newest when the schema does not say. */
async function dialect(draft: string) {
  if (/draft-0[3-7]/.test(draft)) return (await import('ajv')).Ajv;
  if (draft.includes('2019-09')) return (await import('ajv/dist/2019.js')).Ajv2019;
  return (await import('ajv/dist/2020.js')).Ajv2020;
}

const refused = (what: string, cause?: unknown) =>
  problem('ParamValidationError', { path: 'jsonSchema', message: `The schema ${what}` }, cause);

function depthOf(schema: object): number {
  let level: unknown[] = [schema];
  let depth = 0;
  for (; level.length && depth <= MAX_SCHEMA_DEPTH; depth++) {
    level = level.flatMap((value) =>
      typeof value === 'object' && value !== null
        ? Object.values(value).filter((inner) => typeof inner === 'object')
        : [],
    );
  }
  return depth;
}

/** The JSON value in what a model wrote: all of it, else its fenced block, else what stands between its outer brackets. */
function jsonIn(text: string): { json: string; value: unknown } | undefined {
  const answer = withoutWrapping(text);
  const from = answer.search(/[[{]/);
  const to = Math.max(answer.lastIndexOf(']'), answer.lastIndexOf('}'));
  for (const candidate of [answer, fencedIn(answer), from >= 0 && to > from ? answer.slice(from, to + 1) : undefined]) {
    if (candidate === undefined) continue;
    try {
      return { json: candidate.trim(), value: JSON.parse(candidate) };
    } catch {
      // The next candidate may be JSON.
    }
  }
  return undefined;
}

function fencedIn(text: string): string | undefined {
  const opened = text.indexOf('```');
  const from = opened < 0 ? -1 : text.indexOf('\n', opened);
  const to = from < 0 ? -1 : text.indexOf('```', from);
  return to < 0 ? undefined : text.slice(from, to);
}
