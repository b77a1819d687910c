/** Writes log entries for people: one line each, with the time, the level, the message and the remaining fields. */

import { ownValue } from '#own-value.ts';

/** `auto`: readable lines on a terminal, JSON in a pipe or a file. */
export const LOG_FORMATS = ['auto', 'text', 'json'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

const RESET = '\x1b[0m';
const COLOURS: Readonly<Record<string, string>> = { warn: '\x1b[33m', error: '\x1b[31m', fatal: '\x1b[31m' };
// C0 except line feed, DEL and C1 (ECMA-48), and characters that change text direction: a log shows texts of callers.
const CONTROL_CHARACTERS = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const LEVEL_WIDTH = 5;

type Entry = Readonly<Record<string, unknown>>;

/** Formats an entry, given as its JSON line. A line that is not JSON is returned as it is. */
export function textOfEntry(line: string, { coloured = false } = {}): string {
  let entry: Entry;
  try {
    entry = JSON.parse(line) as Entry;
  } catch {
    return line.trimEnd().replace(CONTROL_CHARACTERS, '\ufffd');
  }
  const { level, time, msg, err, face, method, route, status, ms, ...rest } = entry;
  const label = String(level).toUpperCase().padEnd(LEVEL_WIDTH);
  const request = [method, route, status, ms === undefined ? undefined : `${String(ms)} ms`];
  const words = [face, ...request, msg].filter((word) => word !== undefined && word !== '').map(String);
  const fields = Object.entries(rest).map(([name, value]) => `${name}=${valueText(value)}`);
  const text = [String(time).slice(11, 19), label, ...words, ...fields].join(' ');
  const shown = [text, ...errorLines(err)].map((part) => part.replace(CONTROL_CHARACTERS, '\ufffd')).join('\n');
  const colour = ownValue(COLOURS, String(level));
  return coloured && colour ? `${colour}${shown}${RESET}` : shown;
}

const valueText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

function errorLines(err: unknown): string[] {
  if (err === undefined) return [];
  const { stack, message } = err as { stack?: unknown; message?: unknown };
  const text = typeof stack === 'string' ? stack : typeof message === 'string' ? message : JSON.stringify(err);
  return text.split('\n').map((line) => `  ${line.trimEnd()}`);
}
