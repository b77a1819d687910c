/**
 * Validation faults in a request to the model API. All faults are collected and reported in one error
 * (docs/reference/wire/models.md, Validation errors).
 */
import { type Problem, problem } from '#errors.ts';

/** Machine-readable fault types: the names that Pydantic uses, and `media_error`. */
export const FAULT_TYPES = [
  'missing',
  'string_type',
  'list_type',
  'dict_type',
  'int_type',
  'bool_type',
  'enum',
  'greater_than_equal',
  'less_than_equal',
  'too_short',
  'too_long',
  'value_error',
  'media_error',
] as const;
export type FaultType = (typeof FAULT_TYPES)[number];

export interface Fault {
  /** Path to the value, its segments joined by arrows: `body -> input -> 0`. */
  readonly field: string;
  /** What is wrong, phrased to follow the field's name: `must be at least 1`. */
  readonly message: string;
  readonly type: FaultType;
  readonly input?: unknown;
}

export type Place = readonly (string | number)[];

export interface Faults {
  /** `at` is the path within the body. `input` is undefined for a missing value. */
  add(at: Place, type: FaultType, message: string, input?: unknown): void;
  readonly count: number;
  /** Throws ParamValidationError with all faults, if there are any. */
  check(): void;
}

export function createFaults(): Faults {
  const list: Fault[] = [];
  return {
    add(at, type, message, input) {
      const field = ['body', ...at].join(' -> ');
      list.push({ field, message, type, ...(input !== undefined && { input: clipped(input) }) });
    },
    get count() {
      return list.length;
    },
    check() {
      if (list.length) throw faultsProblem(list);
    },
  };
}

export function faultsProblem(errors: readonly Fault[]): Problem {
  const [first] = errors;
  const path = first!.field.split(' -> ').slice(1).join('.') || 'body';
  return problem('ParamValidationError', { path, message: `${path} ${first!.message}`, errors });
}

const MOST_CHARACTERS = 200;
const MOST_VALUES = 10;
const MOST_DEPTH = 3;

/** Truncates an echoed value, so that an error is never larger than the request that caused it. */
function clipped(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return value.length > MOST_CHARACTERS ? value.slice(0, MOST_CHARACTERS) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (depth >= MOST_DEPTH) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.slice(0, MOST_VALUES).map((child) => clipped(child, depth + 1));
  const entries = Object.entries(value).slice(0, MOST_VALUES);
  return Object.fromEntries(entries.map(([key, child]) => [key.slice(0, MOST_CHARACTERS), clipped(child, depth + 1)]));
}
