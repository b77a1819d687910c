/**
 * Validates structured results against the caller's schema. Both the schema and the text are untrusted, and patterns in
 * a schema may run forever, so this must run in a thread that can be killed.
 */
import { problem } from '#errors.ts';
import { unwrapOutput } from './clean-output.ts';

export interface JsonCheck {
  /** The JSON text as written by the model, if it is valid, so that numbers keep all their digits. */
  readonly json?: string | undefined;
  /** The violations found, in order; empty if the result conforms to the schema. */
  readonly violations: readonly string[];
}

/** Limits beyond which a schema is refused. */
const MAX_SCHEMA_CHARACTERS = 64 * 1024;
const MAX_SCHEMA_DEPTH = 64;
const MAX_VIOLATIONS = 20;

type Validate = ((value: unknown) => boolean) & {
  errors?: null | { readonly instancePath: string; readonly message?: string; readonly params: object }[];
};

/**
 * Validates a text against a schema; without `text`, checks only the schema. Throws ParamValidationError with `path`
 * set to `jsonSchema` if the schema is invalid, too large, or refers to another document, which is never fetched.
 */
export async function checkJson(schema: object, text?: string): Promise<JsonCheck> {
  const validate = await compile(schema);
  if (text === undefined) return { violations: [] };
  const found = findJson(text);
  if (!found) return { violations: ['the answer is not JSON'] };
  const { json, value } = found;
  if (validate(value)) return { json, violations: [] };
  return { json, violations: (validate.errors ?? []).slice(0, MAX_VIOLATIONS).map(violationText) };
}

const violationText = ({ instancePath, message, params }: NonNullable<Validate['errors']>[number]): string => {
  const extra = 'additionalProperty' in params ? ` (${String(params.additionalProperty).slice(0, 100)})` : '';
  return `${instancePath.slice(0, 200) || 'the answer'} ${message ?? 'is not valid'}${extra}`;
};

async function compile(schema: object): Promise<Validate> {
  const text = JSON.stringify(schema);
  if (text.length > MAX_SCHEMA_CHARACTERS) throw refused('is too large');
  // The validator ignores rules for this key, so schemas that contain it are refused.
  if (text.includes('"__proto__":')) throw refused('cannot have the key __proto__');
  if (depthOf(schema) > MAX_SCHEMA_DEPTH) throw refused('is nested too deeply');
  const draft = '$schema' in schema ? String(schema.$schema) : '';
  const { default: addFormats } = await import('ajv-formats');
  const ajv = new (await validatorFor(draft))({
    strict: false,
    allErrors: true,
    logger: false,
    // Otherwise inherited names such as constructor and toString would count as present.
    ownProperties: true,
  });
  addFormats.default(ajv);
  // The draft is already known; other values of `$schema` are not resolved.
  const { $schema: _, ...rules } = schema as Record<string, unknown>;
  if ('$async' in rules) throw refused('must not be asynchronous');
  try {
    return ajv.compile(rules) as Validate;
  } catch (error) {
    throw refused(`is not valid: ${(error as Error).message.slice(0, 300)}`, error);
  }
}

/** The validator for a draft of JSON Schema; for the newest draft if the schema names none. */
async function validatorFor(draft: string) {
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

/**
 * The JSON value in the output of a model: all of it, else its fenced block, else the part between the outer brackets.
 */
function findJson(text: string): { json: string; value: unknown } | undefined {
  const answer = unwrapOutput(text);
  const from = answer.search(/[[{]/);
  const to = Math.max(answer.lastIndexOf(']'), answer.lastIndexOf('}'));
  for (const candidate of [
    answer,
    fencedBlock(answer),
    from >= 0 && to > from ? answer.slice(from, to + 1) : undefined,
  ]) {
    if (candidate === undefined) continue;
    try {
      return { json: candidate.trim(), value: JSON.parse(candidate) };
    } catch {
      // Not JSON, so the next candidate is tried.
    }
  }
  return undefined;
}

function fencedBlock(text: string): string | undefined {
  const opened = text.indexOf('```');
  const from = opened < 0 ? -1 : text.indexOf('\n', opened);
  const to = from < 0 ? -1 : text.indexOf('```', from);
  return to < 0 ? undefined : text.slice(from, to);
}
