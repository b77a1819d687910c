/** Converts old option names to current ones, reports unknown names, and reads option values. */
import { problem } from '#errors.ts';
import { nearestName } from '#nearest-name.ts';
import { ownValue } from '#own-value.ts';
import { isObject } from '../values.ts';
import { OLD_NAMES, type OptionTable } from './option-table.ts';

export type Options = Record<string, unknown>;

/** The warnings from reading a definition, and how strictly it is checked. */
export interface OptionReport {
  /** One sentence each, for the log. */
  readonly warnings: string[];
  /** Whether mistakes that older versions accepted are warnings instead of errors. */
  readonly lenient: boolean;
}

/** Converts `usesWith` to `uses_with`, and `failuresAre500` to `failures_are_500`. */
const toSnakeCase = (key: string): string => key.replace(/[A-Z]|(?<=[a-z])\d/g, (sign) => `_${sign.toLowerCase()}`);

export const invalidOption = (path: string, message: string) =>
  problem('ParamValidationError', { message: `${path}: ${message}`, path });

/** Adds a warning if the report is lenient; else throws a ParamValidationError. */
export function reportMistake(
  { lenient, warnings }: OptionReport,
  path: string,
  message: string,
  instead: string,
): void {
  if (!lenient) throw invalidOption(path, message);
  warnings.push(`${path}: ${message}; ${instead}`);
}

/**
 * Reports an unknown key and suggests the nearest known name. `owner` describes the owner of the option, such as
 * "executor `a`".
 */
function reportUnknown(key: string, known: readonly string[], path: string, owner: string, report: OptionReport): void {
  const near = nearestName(toSnakeCase(key), known);
  const unknown = `unknown option \`${key}\` of ${owner}`;
  const advice = near === undefined ? 'remove it, or load the file as lenient' : `did you mean \`${near}\`?`;
  if (report.lenient) report.warnings.push(`${path}: ${unknown} ignored`);
  else throw invalidOption(path, `${unknown}: ${advice}`);
}

/** The origin of options, for messages. */
export interface OptionOwner {
  /** Path in the definition. */
  readonly path: string;
  /** The owner of the options, such as "executor `a`". */
  readonly owner: string;
}

/** Renames options to their current snake_case names and drops those without an effect, adding a warning for each. */
export function normalizeOptions(
  given: Options,
  table: OptionTable,
  { path, owner }: OptionOwner,
  report: OptionReport,
): Options {
  const options: Options = {};
  for (const [key, value] of Object.entries(given)) {
    if (value === undefined) continue;
    const name = ownValue(OLD_NAMES, toSnakeCase(key)) ?? toSnakeCase(key);
    const row = ownValue(table, name);
    if (row === undefined) {
      reportUnknown(key, Object.keys(table), path, owner, report);
    } else if (row.use === 'ignored') {
      report.warnings.push(`${path}: the option ${key} has no effect${row.note ? `: ${row.note}` : ''}`);
    } else {
      options[name] = value;
    }
  }
  return options;
}

/** Reports each key that is not among the known ones. */
export function checkKeys(
  given: Options,
  known: readonly string[],
  { path, owner }: OptionOwner,
  report: OptionReport,
): void {
  for (const key of Object.keys(given)) {
    if (!known.includes(key)) reportUnknown(key, known, path, owner, report);
  }
}

export const exportedOptions = (options: Options, table: OptionTable): Options =>
  Object.fromEntries(Object.entries(options).filter(([key]) => ownValue(table, key)?.use === 'exported'));

/**
 * Reads and checks option values. `null` counts as not set. Throws a ParamValidationError that names the invalid
 * option.
 */
export function createOptionReader(options: Options, path: string) {
  const raw = (key: string): unknown => options[key] ?? undefined;
  const pathOf = (key: string): string => (path ? `${path}.${key}` : key);

  function string(key: string): string | undefined {
    const value = raw(key);
    if (value === undefined) return undefined;
    if (typeof value === 'string' || typeof value === 'number') return String(value);
    throw invalidOption(pathOf(key), 'expected a string');
  }

  function integer(key: string, least = 0): number | undefined {
    const value = raw(key);
    if (value === undefined) return undefined;
    const number = typeof value === 'string' && /^-?\d+$/.test(value) ? Number(value) : value;
    if (typeof number !== 'number' || !Number.isSafeInteger(number) || number < least) {
      throw invalidOption(pathOf(key), `expected a whole number of at least ${least}`);
    }
    return number;
  }

  function flag(key: string): boolean | undefined {
    const value = raw(key);
    if (value === undefined || typeof value === 'boolean') return value;
    if (typeof value === 'string' && /^(?:true|yes|on|1)$/i.test(value)) return true;
    if (typeof value === 'string' && /^(?:false|no|off|0)$/i.test(value)) return false;
    throw invalidOption(pathOf(key), 'expected true or false');
  }

  function record(key: string): Record<string, unknown> | undefined {
    const value = raw(key);
    const read = typeof value === 'string' && value.trimStart().startsWith('{') ? parseJson(value, pathOf(key)) : value;
    if (read === undefined) return undefined;
    if (!isObject(read)) throw invalidOption(pathOf(key), 'expected a mapping');
    return read;
  }

  /** A list. A single value becomes a list of one. */
  function list(key: string): unknown[] | undefined {
    const value = raw(key);
    if (value === undefined) return undefined;
    return Array.isArray(value) ? value : [value];
  }

  function strings(key: string): string[] | undefined {
    return list(key)?.map((value) => {
      if (typeof value === 'string' || typeof value === 'number') return String(value);
      throw invalidOption(pathOf(key), 'expected a string or a list of strings');
    });
  }

  function stringRecord(key: string): Record<string, string> | undefined {
    const value = record(key);
    return value && Object.fromEntries(Object.entries(value).map(([name, one]) => [name, String(one ?? '')]));
  }

  function choice<const T extends string>(key: string, choices: readonly T[]): T | undefined {
    const value = string(key);
    if (value === undefined) return undefined;
    const found = choices.find((one) => one.toLowerCase() === value.toLowerCase());
    if (found === undefined) throw invalidOption(pathOf(key), `expected one of ${choices.join(', ')}`);
    return found;
  }

  return { raw, pathOf, string, integer, flag, record, list, strings, stringRecord, choice };
}

export type OptionReader = ReturnType<typeof createOptionReader>;

function parseJson(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw invalidOption(path, `not valid JSON: ${(error as Error).message}`);
  }
}
