/** Flags from rows of a table: how an option looks on a command line, and what it becomes in a request. */
import { readFileSync } from 'node:fs';
import { Command, InvalidArgumentError, Option } from 'commander';
import { own } from '#own.ts';

export { Command, Option };

/** An option of reader or search as the command line sees it. */
export interface FlagRow {
  /** As in a request's body. */
  readonly name: string;
  /**
   * A switch is on without a value and takes one behind `=`; a list may be given several times; an object takes
   * `key=value` several times, JSON, or `@file` with JSON.
   */
  readonly kind: 'switch' | 'text' | 'list' | 'object';
  readonly group: string;
  readonly meaning: string;
  readonly unit?: string;
  readonly defaultText?: string;
  /** All that it may be, or for a switch the values beyond yes and no. */
  readonly words?: readonly string[];
  /** Of an object. */
  readonly fields?: readonly string[];
}

/** A setting as a flag of the server. */
export interface SettingFlag {
  readonly name: string;
  readonly group: string;
  readonly flag: string;
  readonly variable: string;
  readonly meaning: string;
  readonly defaultText: string;
}

const SHORT: Readonly<Record<string, string>> = { respondWith: '-f, ' };

export const kebab = (name: string): string => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** On without a value; a value stands behind `=`, so that an address that follows is none. */
export class Switch extends Option {
  /** As the help shows it: `--with-iframe[=quoted]`. */
  readonly term: string;

  constructor(flag: string, description: string, words: readonly string[] = []) {
    super(`${flag} [value]`, description);
    // The name of an option may begin with `no` without being the opposite of another.
    this.negate = false;
    this.term = words.length > 0 ? `${flag}[=${words.join('|')}]` : flag;
    this.argParser((text: string) => text);
  }
}

/** A command with switches. */
export class FlagCommand extends Command {
  override parseOptions(argv: string[]) {
    const bare = new Set(this.options.filter((option) => option instanceof Switch).map(({ long }) => long));
    const end = argv.indexOf('--');
    return super.parseOptions(
      argv.map((word, at) => (bare.has(word) && (end < 0 || at < end) ? `${word}=true` : word)),
    );
  }
}

/** Adds the flags of a table's rows, group by group. */
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
  const long = `${own(SHORT, name) ?? ''}--${kebab(name)}`;
  if (kind === 'switch') return new Switch(long, text, words);
  if (kind === 'list') return new Option(`${long} <text>`, `${text} May be given several times.`).argParser(addTo);
  if (kind === 'object') return new Option(`${long} <key=value>`, text).argParser(fieldsOf(row));
  const value = new Option(`${long} <${unit ?? 'value'}>`, text);
  return words.length > 0 ? value.choices(words) : value;
}

const addTo = (text: string, before: readonly string[] | undefined): string[] => [...(before ?? []), text];

type Fields = Readonly<Record<string, unknown>>;

/** Texts stay texts where any field may be, as in headers; else `true` and numbers are what they look like. */
const fieldsOf =
  ({ name, fields }: FlagRow) =>
  (text: string, before: Fields | undefined): Fields => {
    if (text.startsWith('@') || text.trimStart().startsWith('{')) return { ...before, ...jsonOf(text) };
    const [, key, value] = /^([^=:]+?)\s*[=:]\s*(.*)$/s.exec(text) ?? [];
    if (key === undefined || value === undefined)
      throw new InvalidArgumentError('It must be key=value, JSON, or @ and a file of JSON.');
    if (fields && !fields.includes(key))
      throw new InvalidArgumentError(`${name} has no ${key}: it has ${fields.join(', ')}.`);
    return { ...before, [key]: fields && /^(?:true|false|-?\d+(?:\.\d+)?)$/.test(value) ? JSON.parse(value) : value };
  };

function jsonOf(text: string): Fields {
  try {
    const value: unknown = JSON.parse(text.startsWith('@') ? readFileSync(text.slice(1), 'utf8') : text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Fields;
  } catch (error) {
    throw new InvalidArgumentError(`It cannot be read: ${(error as Error).message}.`);
  }
  throw new InvalidArgumentError('It must be a JSON object.');
}

/** Of all flags that were given, those of the table: what goes into the request. */
export function givenOptions(
  rows: readonly FlagRow[],
  flags: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(rows.flatMap(({ name }) => (flags[name] === undefined ? [] : [[name, flags[name]]])));
}
