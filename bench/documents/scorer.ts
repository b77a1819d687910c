/**
 * Runs a scorer: a program that knows the truth of a folder and rates saved answers. It is called as
 * `<scorer> --data <folder> --outputs <answers> --format <formats> --json <file>` and writes
 * `{ "summary": { "<format>": { "all": 0.9, ... } } }` into the file.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';

export type ScoredFormat = Readonly<Record<string, number | null | undefined>>;

/** The columns taken from a scorer, with their headings. */
export const SCORED_COLUMNS: readonly (readonly [key: string, heading: string])[] = [
  ['all', 'all'],
  ['recall', 'recall'],
  ['precision', 'precision'],
  ['order', 'order'],
  ['headings', 'headings'],
  ['items', 'items'],
  ['teds', 'TEDS'],
  ['adjacency', 'adjacency'],
  ['spurious', 'spurious'],
  ['notes', 'notes'],
  ['links', 'links'],
];

export function runScorer(
  scorer: string,
  folder: string,
  answers: string,
  formats: readonly string[],
): Readonly<Record<string, ScoredFormat>> {
  const file = path.join(answers, 'scores.json');
  const args = ['--data', folder, '--outputs', answers, '--format', formats.join(','), '--json', file];
  execFileSync(path.resolve(scorer), args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return (JSON.parse(readFileSync(file, 'utf8')) as { summary: Record<string, ScoredFormat> }).summary;
}
