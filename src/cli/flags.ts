/** Command-line flags from rows of the options table, and the request options that they set. */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { ownValue } from '#own-value.ts';

export { Command, Option };

/** A reader or search option as a command-line flag. */
export interface FlagRow {
  /** Name in a request body. */
  readonly name: string;
  /**
   * `switch`: on without a value, or a value after `=`. `list`: repeatable. `object`: repeatable `key=value`, JSON, or
   * `@file` with JSON.
   */
  readonly kind: 'switch' | 'text' | 'list' | 'object';
  readonly group: string;
  readonly meaning: string;
  readonly unit?: string;
  readonly defaultText?: string;
  /** Allowed values; for a switch, those in addition to true and false. */
  readonly words?: readonly string[];
  /** Fields of an object. */
  readonly fields?: readonly string[];
}

/** A setting as a flag of `lectern serve`. */
export interface SettingFlag {
  readonly name: string;
  readonly group: string;
  readonly flag: string;
  readonly variable: string;
  readonly meaning: string;
  readonly defaultText: string;
}

/** An option of flow files as a flag. */
export interface FlowFlag {
  /** Name in a flow file, in snake case. */
  readonly name: string;
  readonly meaning: string;
  /** Name of the value in the help; `pairs` are KEY: VALUE. `undefined`: a switch. */
  readonly value?: string;
  /** Whether the flag takes several values. */
  readonly several?: boolean;
}

const SHORT: Readonly<Record<string, string>> = { respondWith: '-f, ' };

export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A switch is on if it has no value. A value must follow `=`, so that the next argument is never used as the value. */
export class Switch extends Option {
  /** Form in the help: `--with-iframe[=quoted]`. */
  readonly term: string;

  constructor(flag: string, description: string, words: readonly string[] = []) {
    super(`${flag} [value]`, description);
    // Commander negates options that start with `no-`, but here such a name is an option of its own.
    this.negate = false;
    this.term = words.length > 0 ? `${flag}[=${words.join('|')}]` : flag;
    this.argParser((text: string) => text);
  }
}

/** A command whose switches need no value. */
export class FlagCommand extends Command {
  override parseOptions(argv: string[]) {
    const bare = new Set(this.options.filter((option) => option instanceof Switch).map(({ long }) => long));
    const end = argv.indexOf('--');
    return super.parseOptions(
      argv.map((word, at) => (bare.has(word) && (end < 0 || at < end) ? `${word}=true` : word)),
    );
  }
}

/** Adds a flag for each row, in the group of the row. */
export function withFlags<Given extends Command>(command: Given, rows: readonly FlagRow[]): Given {
  for (const row of rows) command.addOption(flagOf(row).helpGroup(`${row.group}:`));
  return command;
}

function flagOf(row: FlagRow): Option {
  const { name, kind, meaning, unit, defaultText, words = [], fields } = row;
  const text = [
    meaning,
    fields && `Fields: ${fields.join(', ')}.`,
    defaultText && kind !== 'switch' && `Default: ${defaultText}.`,
  ]
    .filter(Boolean)
    .join(' ');
  const long = `${ownValue(SHORT, name) ?? ''}--${kebab(name)}`;
  if (kind === 'switch') return new Switch(long, text, words);
  if (kind === 'list') return new Option(`${long} <text>`, `${text} Repeatable.`).argParser(addTo);
  if (kind === 'object') return new Option(`${long} <key=value>`, text).argParser(fieldsOf(row));
  const value = new Option(`${long} <${unit ?? 'value'}>`, text);
  return words.length > 0 ? value.choices(words) : value;
}

const addTo = (text: string, before: readonly string[] | undefined): string[] => [...(before ?? []), text];

type Fields = Readonly<Record<string, unknown>>;

/** Parses fields of an object. Booleans and numbers are converted only if the fields are known; headers stay text. */
const fieldsOf =
  ({ name, fields }: FlagRow) =>
  (text: string, before: Fields | undefined): Fields => {
    if (text.startsWith('@') || text.trimStart().startsWith('{')) return { ...before, ...jsonOf(text) };
    const [, key, value] = /^([^=:]+?)\s*[=:]\s*(.*)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined)
      throw new InvalidArgumentError('It must be key=value, JSON, or @file with JSON.');
    if (fields && !fields.includes(key))
      throw new InvalidArgumentError(`${name} has no field ${key}: use ${fields.join(', ')}.`);
    return { ...before, [key]: fields && /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(value) ? JSON.parse(value) : value };
  };

function jsonOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  } catch (error) {
    throw new InvalidArgumentError(`Cannot read the value: ${(error as Error).message}.`);
  }
  throw new InvalidArgumentError('It must be a JSON object.');
}

/** Selects the flags that belong to the table: the options of the request. */
export function givenOptions(
  rows: readonly FlagRow[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(rows.flatMap(({ name }) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
}
