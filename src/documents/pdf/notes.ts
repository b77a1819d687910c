/** Footnotes: small text at the end of a page that begins with a label which also occurs raised in the text above. */
import type { Block } from './blocks.ts';
import type { Box } from './geometry.ts';
import type { Run } from './lines.ts';

export interface Note {
  readonly label: string;
  readonly runs: readonly Run[];
  readonly box?: Box | undefined;
}

export interface WithNotes {
  readonly blocks: readonly Block[];
  readonly notes: readonly Note[];
  /** Labels that have a note; raised references to them become links. */
  readonly labels: ReadonlySet<string>;
}

type Running = Extract<Block, { kind: 'paragraph' | 'quote' }>;

const LABEL = /^\s*(\d{1,3}|[*†‡§¶]{1,3}|[a-z])(?:[.):\]]?\s+|$)/;
const LONE_LABEL = /^\s*[[(]?(\d{1,3}|[*†‡§¶]{1,3}|[a-z])[\])]?\s*$/;

export function withNotes(blocks: readonly Block[]): WithNotes {
  const referred = new Set<string>();
  for (const block of blocks) {
    if (!('runs' in block) || block.kind === 'quote') continue;
    block.runs.forEach((run, at) => {
      const label = at > 0 && run.shift === 'raised' ? LONE_LABEL.exec(run.text)?.[1] : undefined;
      if (label) referred.add(label);
    });
  }
  const notes: Note[] = [];
  const labels = new Set<string>();
  const kept: Block[] = [];
  for (const block of blocks) {
    const note = block.kind === 'quote' || block.kind === 'paragraph' ? noteOf(block, referred) : null;
    if (note && !labels.has(note.label)) {
      notes.push(note);
      labels.add(note.label);
    } else kept.push(block);
  }
  return { blocks: kept, notes, labels };
}

/** Text in body size is a note only if its label is raised. */
function noteOf({ kind, runs, box }: Running, referred: ReadonlySet<string>): Note | null {
  const [first] = runs;
  if (!first) return null;
  const isRaised = first.shift === 'raised';
  if (kind === 'paragraph' && !isRaised) return null;
  const text = runs.map((run) => run.text).join('');
  const found = isRaised ? LONE_LABEL.exec(first.text) : LABEL.exec(text);
  const label = found?.[1];
  if (!found || label === undefined || !referred.has(label)) return null;
  let left = isRaised ? first.text.length : found[0].length;
  const rest: Run[] = [];
  for (const run of runs) {
    const cut = Math.min(left, run.text.length);
    left -= cut;
    if (cut < run.text.length) rest.push({ ...run, text: run.text.slice(cut) });
  }
  return rest.length > 0 ? { label, runs: rest, box } : null;
}

/** The label that a raised run refers to, if a note with it exists. */
export function referenceOf(run: Run, labels: ReadonlySet<string>): string | null {
  if (run.shift !== 'raised') return null;
  const label = LONE_LABEL.exec(run.text)?.[1];
  return label !== undefined && labels.has(label) ? label : null;
}
