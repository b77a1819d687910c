/**
 * Kinds of values that arrive as text in a header or query and as JSON in a body, and mean the same in both.
 * Each is a zod schema: what comes out is typed, what goes in is what OpenAPI shows.
 */
import * as z from 'zod';
import { JsonTooLargeError, parseJson } from './json.ts';

const FALSE_WORDS = new Set(['', 'false', 'no', 'none', 'null', 'nil', 'nan', 'undefined', '0']);

/** Pseudo-boolean: null, absent and the words for "no" are false, every other text is true. */
export function toBoolean(value: boolean | number | string | null | undefined): boolean {
  if (typeof value === 'string') return !FALSE_WORDS.has(value.trim().toLowerCase());
  return Boolean(value);
}

/** What stands for yes or no: of numbers only 0 and 1, since another one is a slip. */
const LOOSE = [z.boolean(), z.literal([0, 1]), z.string(), z.null()] as const;

export const flag = () => z.union(LOOSE, 'must be true or false').transform(toBoolean);

/** A switch that knows further values: those words as they are, anything else as a pseudo-boolean. */
export const flagOr = <const Word extends string>(...words: readonly [Word, ...Word[]]) =>
  z
    .union([z.enum(words), ...LOOSE], `must be true, false or ${words.join(', ')}`)
    .transform((value): Word | boolean => {
      const word = typeof value === 'string' ? value.trim().toLowerCase() : value;
      return words.find((known) => known === word) ?? toBoolean(value);
    });

interface Range {
  /** The smallest value allowed. */
  readonly min?: number;
  /** The value that must be exceeded. */
  readonly above?: number;
  readonly max?: number;
  readonly integer?: boolean;
}

/** What `Number` reads beyond this (`0x1f`, `Infinity`) nobody means. */
const DECIMAL = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:e[+-]?\d+)?$/i;

export const number = ({ min, above, max, integer = false }: Range = {}) =>
  z.union([z.number(), z.string()], 'must be a number').transform((value, context) => {
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

const MOST_TEXTS = 200;

/** One text or several; absent and empty texts fall out. */
export const texts = () =>
  z
    .union([z.string(), z.array(z.string())])
    .transform((value) => (Array.isArray(value) ? value : [value]).filter((text) => text.trim() !== ''))
    .refine((list) => list.length <= MOST_TEXTS, `must not have more than ${MOST_TEXTS} entries`);

const NO_OBJECT = 'must be an object or its JSON text';

/** An object, or the JSON text of one, as forms and queries carry it. */
export const object = <Shape extends z.ZodType>(shape: Shape) =>
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
  );

export const oneOf = <const Word extends string>(words: readonly [Word, ...Word[]]) =>
  z
    .string()
    .transform((text) => text.trim())
    .pipe(z.enum(words));
