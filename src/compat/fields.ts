/** Validates the fields of foreign requests. Unknown fields are ignored, and `null` means that a field is not set. */
import * as z from 'zod';
import { Problem, problem } from '#errors.ts';
import { check } from '#http/gather.ts';

/** Parses an object. Throws ParamValidationError whose `path` and message name the field. */
export function readFields<Schema extends z.ZodType>(schema: Schema, value: unknown): z.output<Schema> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw problem('ParamValidationError', { path: 'body', message: 'The body must be a JSON object' });
  }
  const given = Object.fromEntries(Object.entries(value).filter(([, field]) => field !== null && field !== undefined));
  try {
    return check('body', schema, given);
  } catch (error) {
    throw error instanceof Problem ? withoutBody(error) : error;
  }
}

/** Removes `body.` from the path and the message, because clients know their fields without it. */
function withoutBody(failure: Problem): Problem {
  const { path, ...facts } = failure.facts;
  const bare = (text: string) => text.replace(/^body\./, '');
  return problem(failure.name, { ...facts, path: bare(String(path)), message: bare(failure.message) });
}

/**
 * Renames the option that a problem of a native operation names (`input`, `input.0`) to the field of the dialect. `names`
 * has whole paths, or their first parts.
 */
export function renamePath(failure: Problem, names: Readonly<Record<string, string>>): Problem {
  const { path } = failure.facts;
  const whole = typeof path === 'string' ? path : '';
  const [field = '', ...rest] = Object.hasOwn(names, whole) ? [whole] : whole.split('.');
  const name = Object.hasOwn(names, field) ? names[field] : undefined;
  if (name === undefined) return failure;
  const renamed = [name, ...rest].join('.');
  const given = new RegExp(`\\b${whole.replaceAll('.', '\\.')}\\b`, 'g');
  const message = failure.message.replaceAll(given, renamed);
  return problem(failure.name, { ...failure.facts, path: renamed, message }, failure.cause);
}

/** Throws a failure of a native operation with the fields of the dialect: `.catch(renameFields({ input: 'texts' }))`. */
export const renameFields =
  (names: Readonly<Record<string, string>>) =>
  (error: unknown): never => {
    throw error instanceof Problem ? renamePath(error, names) : error;
  };

/** A field that clients send as a number or as its text. */
export const numberText = () =>
  z.union([z.number(), z.string().regex(/^-?\d+(?:\.\d+)?$/, 'must be a number')]).transform(Number);

/** A field that clients send as a boolean, or as a word for one. */
export const booleanText = () =>
  z.union([
    z.boolean(),
    z.enum(['true', 'false', '1', '0', 'on', 'off', 'yes', 'no']).transform((word) => /^(?:true|1|on|yes)$/.test(word)),
  ]);

/** A field that clients send as an array, as one text, or as a comma-separated list. */
export const textList = () =>
  z
    .union([z.array(z.string()), z.string().transform((text) => text.split(','))])
    .transform((list) => list.map((word) => word.trim()).filter(Boolean));

/** A field that clients of forms send repeatedly, as a JSON list in text, or separated by commas. */
export const formList = () =>
  z.union([z.array(z.union([z.string(), z.number()])), z.string(), z.number()]).transform((given) => {
    const words = [given].flat().flatMap((one) => {
      const text = String(one).trim();
      return text.startsWith('[') ? text.slice(1, text.endsWith(']') ? -1 : undefined).split(',') : text.split(',');
    });
    return words.map((word) => word.trim().replace(/^["']|["']$/g, '')).filter(Boolean);
  });
