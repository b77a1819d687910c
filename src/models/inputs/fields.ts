/** Parses one field of a request: resolves aliases and checks the type. */
import { ownValue } from '#own-value.ts';
import type { Faults } from './faults.ts';

/** An entry of a field table. */
export interface RequestField {
  /** Alternative names. The main name wins if both are sent. */
  readonly aliases: readonly string[];
  readonly meaning: string;
  /** JSON schema of the values, for the OpenAPI document. */
  readonly schema: Readonly<Record<string, unknown>>;
  readonly required?: true;
}

/** A value and the name under which it was sent. */
export interface Found {
  readonly at: string;
  readonly value: unknown;
}

export type Body = Readonly<Record<string, unknown>>;

/** Finds the first name that is present; null counts as absent. */
export function findField(body: Body, name: string, { aliases }: RequestField): Found | undefined {
  for (const at of [name, ...aliases]) {
    const value = ownValue(body, at);
    if (value !== undefined && value !== null) return { at, value };
  }
  return undefined;
}

/** These functions return undefined for a missing or invalid value. For an invalid value they also add a fault. */
export function readFlag(found: Found | undefined, faults: Faults): boolean | undefined {
  if (!found) return undefined;
  if (typeof found.value === 'boolean') return found.value;
  faults.add([found.at], 'bool_type', 'must be true or false', found.value);
  return undefined;
}

export function readText(found: Found | undefined, faults: Faults): string | undefined {
  if (!found) return undefined;
  if (typeof found.value === 'string') return found.value;
  faults.add([found.at], 'string_type', 'must be a string', found.value);
  return undefined;
}

export function readWord<Word extends string>(
  found: Found | undefined,
  words: readonly Word[],
  faults: Faults,
): Word | undefined {
  const text = readText(found, faults);
  if (text === undefined) return undefined;
  const word = words.find((known) => known === text);
  if (word === undefined) faults.add([found!.at], 'enum', `must be one of ${words.join(', ')}`, text);
  return word;
}

export interface Range {
  readonly min: number;
  readonly max?: number | undefined;
}

export function readInteger(found: Found | undefined, { min, max }: Range, faults: Faults): number | undefined {
  if (!found) return undefined;
  const { at, value } = found;
  if (typeof value !== 'number' || !Number.isInteger(value)) {
    faults.add([at], 'int_type', 'must be a whole number', value);
  } else if (value < min) faults.add([at], 'greater_than_equal', `must be at least ${min}`, value);
  else if (max !== undefined && value > max) faults.add([at], 'less_than_equal', `must be at most ${max}`, value);
  else return value;
  return undefined;
}
