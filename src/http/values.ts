/**
 * zod schemas for option values that arrive as text (header, query) or as JSON (body), with the same meaning in both.
 * OpenAPI documents the input side of a schema.
 */
import * as z from 'zod';
import { JsonTooLargeError, parseJson } from './json.ts';
import { type JsonSchema, showAs, showBoth } from './shown-schema.ts';

const FALSE_WORDS = new Set(['', 'false', 'no', 'none', 'null', 'nil', 'nan', 'undefined', '0']);

/** A lenient boolean: null, an empty value and words such as `no` are false; all other text is true. */
export function toBoolean(value: boolean | number | string | null | undefined): boolean {
  if (typeof value === 'string') return !FALSE_WORDS.has(value.trim().toLowerCase());
  return Boolean(value);
}

/** The values that are accepted as booleans. Numbers other than 0 and 1 are probably mistakes, so they are rejected. */
const LOOSE = [z.boolean(), z.literal([0, 1]), z.string(), z.null()] as const;

const TEXT: JsonSchema = { type: 'string' };
const LOOSE_FORMS: readonly JsonSchema[] = [
  { type: 'boolean' },
  { type: 'integer', enum: [0, 1] },
  TEXT,
  { type: 'null' },
];
const LOOSE_TEXTS: readonly JsonSchema[] = [{ type: 'boolean' }, TEXT];

export const flag = () =>
  showAs(z.union(LOOSE, 'must be true or false'), {
    json: { anyOf: LOOSE_FORMS },
    text: { anyOf: LOOSE_TEXTS },
  }).transform(toBoolean);

/** One of the given words, or a lenient boolean. */
export const flagOr = <const Word extends string>(...words: readonly [Word, ...Word[]]) =>
  showAs(z.union([z.enum(words), ...LOOSE], `must be true, false or ${words.join(', ')}`), {
    json: { anyOf: [{ ...TEXT, enum: words }, ...LOOSE_FORMS] },
    text: { anyOf: [{ ...TEXT, enum: words }, ...LOOSE_TEXTS] },
  }).transform((value): Word | boolean => {
    const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
    return words.find((known) => known === word) ?? toBoolean(value);
  });

interface Range {
  /** Inclusive lower bound. */
  readonly min?: number;
  /** Exclusive lower bound. */
  readonly above?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** Decimal notation only. `Number` would also accept `0x1f` and `Infinity`. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

const rangeSchema = ({ min, above, max, integer }: Range): JsonSchema => ({
  type: integer ? 'integer' : 'number',
  ...(min !== undefined && { minimum: min }),
  ...(above !== undefined && { exclusiveMinimum: above }),
  ...(max !== undefined && { maximum: max }),
});

export const number = (range: Range = {}) => {
  const { min, above, max, integer = false } = range;
  const form = rangeSchema(range);
  const input = showAs(z.union([z.number(), z.string()], 'must be a number'), {
    json: { anyOf: [form, { ...TEXT, description: 'The number as text.' }] },
    text: form,
  });
  return input.transform((value, context) => {
    const parsed = typeof value === 'number' || DECIMAL.test(value.trim()) ? Number(value) : Number.NaN;
    const fail = (message: string) => {
      context.addIssue({ code: 'custom', message, input: value });
      return z.NEVER;
    };
    if (!Number.isFinite(parsed)) return fail('must be a number');
    if (integer && !Number.isInteger(parsed)) return fail('must be a whole number');
    if (min !== undefined && parsed < min) return fail(`must be at least ${min}`);
    if (above !== undefined && parsed <= above) return fail(`must be more than ${above}`);
    if (max !== undefined && parsed > max) return fail(`must be at most ${max}`);
    return parsed;
  });
};

const MAX_TEXTS = 200;

const TEXTS: JsonSchema = { anyOf: [TEXT, { type: 'array', items: TEXT, maxItems: MAX_TEXTS }] };

/** One string or several; empty strings are dropped. */
export const texts = () =>
  showBoth(z.union([z.string(), z.array(z.string())]), TEXTS)
    .transform((value) => (Array.isArray(value) ? value : [value]).filter((text) => text.trim() !== ''))
    .refine((list) => list.length <= MAX_TEXTS, `must not have more than ${MAX_TEXTS} entries`);

const NO_OBJECT = 'must be an object or its JSON text';

/** An object, or an object as JSON text (for forms and query strings). */
export const object = <Shape extends z.ZodType>(shape: Shape) =>
  showAs(
    z.union(
      [
        shape,
        z
          .string()
          .transform((text, context) => {
            try {
              return parseJson(text);
            } catch (error) {
              const message = error instanceof JsonTooLargeError ? error.message : NO_OBJECT;
              context.addIssue({ code: 'custom', message, input: text });
              return z.NEVER;
            }
          })
          .pipe(shape),
      ],
      NO_OBJECT,
    ),
    { text: { ...TEXT, contentMediaType: 'application/json', description: 'The JSON text of an object.' } },
  );

export const oneOf = <const Word extends string>(words: readonly [Word, ...Word[]]) =>
  showBoth(z.string(), { ...TEXT, enum: words })
    .transform((text) => text.trim())
    .pipe(z.enum(words));
