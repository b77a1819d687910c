/** Joins the runs of lines: spaces between words, hyphenation removed, equal styles merged. */
import { isUnspaced } from './characters.ts';
import { type Hyphens, NO_HYPHENS } from './hyphens.ts';
import type { Line, Run } from './lines.ts';

/** Shortens the leader dots of a line in a table of contents to one character. */
export function withoutLeader({ runs }: Line): Run[] {
  const dots = runs.map((run) =>
    /^[\s.]*$/.test(run.text) ? { ...run, mono: false, bold: false, italic: false } : run,
  );
  return dots
    .reduce<Run[]>(mergeStyledRun, [])
    .map((run) => ({ ...run, text: run.text.replace(/\s*(?:\.\s?){4,}\s*/, ' … ') }));
}

function mergeStyledRun(all: Run[], run: Run): Run[] {
  const last = all[all.length - 1];
  if (last && isSameLook(last, run)) all[all.length - 1] = { ...last, text: last.text + run.text };
  else all.push(run);
  return all;
}

/** Joins the lines of a paragraph: with a space if the script uses spaces, and with hyphenation removed. */
export const joinLines = (lines: readonly Line[], hyphens = NO_HYPHENS): Run[] =>
  lines.reduce<Run[]>((all, { runs }) => append(all, runs, hyphens), []);

export const joinRuns = (first: readonly Run[], second: readonly Run[], hyphens: Hyphens): Run[] =>
  append([...first], second, hyphens);

function append(all: Run[], runs: readonly Run[], hyphens: Hyphens): Run[] {
  const last = all[all.length - 1];
  const first = runs[0];
  if (last && first) {
    const end = last.text.trimEnd();
    const start = first.text.slice(0, 1);
    let text = `${end} `;
    if (isHyphenated(end, start) && !hyphens.belongs(end, first.text)) text = end.slice(0, -1);
    else if (isUnspaced(end.slice(-1)) && isUnspaced(start)) text = end;
    else if (/[\p{L}\p{N}][-\u2010/–—]$/u.test(end)) text = end;
    all[all.length - 1] = { ...last, text };
    if (isSameLook(last, first)) {
      all[all.length - 1] = { ...last, text: text + first.text };
      runs = runs.slice(1);
    }
  }
  all.push(...runs);
  return all;
}

const isSameLook = (one: Run, two: Run): boolean =>
  one.bold === two.bold &&
  one.italic === two.italic &&
  one.mono === two.mono &&
  one.shift === two.shift &&
  one.href === two.href;

/**
 * Whether a hyphen only marks a line break: true for `exam-` and `ple`, false for `well-` and `Known`, and for `2019-`
 * and `20`.
 */
const isHyphenated = (text: string, next: string): boolean =>
  /\p{Ll}[-\u2010\u00ad]$/u.test(text) && /\p{Ll}/u.test(next);
