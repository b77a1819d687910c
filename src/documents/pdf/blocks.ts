/** Lines to blocks: headings, paragraphs, lists, code, notes. */

import { isUnspaced } from './characters.ts';
import type { Line, Run } from './lines.ts';
import { type InsetSegment, isInset, type Region } from './regions.ts';
import type { Table } from './table.ts';

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly runs: readonly Run[] }
  | { readonly kind: 'paragraph'; readonly runs: readonly Run[] }
  | { readonly kind: 'quote'; readonly runs: readonly Run[] }
  | { readonly kind: 'code'; readonly text: string }
  | {
      readonly kind: 'item';
      readonly ordered: boolean;
      readonly start: number;
      readonly depth: number;
      readonly runs: readonly Run[];
    }
  | { readonly kind: 'note'; readonly label: string; readonly runs: readonly Run[] }
  | { readonly kind: 'table'; readonly table: Table };

export interface Looks {
  readonly bodySize: number;
  /** The level of a heading of this size and weight, or 0 for text that is none. */
  levelOf(lines: readonly Line[]): number;
}

export function toBlocks(region: Region, looks: Looks): Block[] {
  const blocks: Block[] = [];
  let group: Line[] = [];
  const close = () => {
    if (group.length > 0) blocks.push(blockOf(group, looks));
    group = [];
  };
  let before: Line | null = null;
  for (const item of region.items) {
    if (isInset(item)) {
      close();
      before = null;
      blocks.push(...insetBlocks(item));
      continue;
    }
    const line = item as Line;
    if (before && startsBlock(line, before, region)) close();
    group.push(line);
    before = line;
  }
  close();
  return blocks;
}

const insetBlocks = ({ inset }: InsetSegment): Block[] =>
  'table' in inset ? [{ kind: 'table', table: inset.table }] : [];

function startsBlock(line: Line, before: Line, region: Region): boolean {
  const size = Math.max(line.size, before.size);
  if (Math.abs(line.size - before.size) > 0.08 * size) return true;
  const pitch = line.baseline - before.baseline;
  if (pitch > 1.7 * size) return true;
  const indent = line.x0 - region.x0;
  const beforeIndent = before.x0 - region.x0;
  if (indent > 0.8 * size && beforeIndent < 0.3 * size && before.x1 < region.x1) return true;
  return false;
}

function blockOf(lines: readonly Line[], looks: Looks): Block {
  const runs = joinLines(lines);
  const level = looks.levelOf(lines);
  if (level > 0) return { kind: 'heading', level, runs };
  return { kind: 'paragraph', runs };
}

/** Lines of one paragraph: with a space between them, or none where the script has none, hyphens at ends undone. */
export function joinLines(lines: readonly Line[]): Run[] {
  const out: Run[] = [];
  for (const { runs } of lines) {
    const last = out[out.length - 1];
    const first = runs[0];
    if (last && first) {
      const end = last.text.slice(-1);
      const start = first.text.slice(0, 1);
      if (isHyphenated(last.text, start)) out[out.length - 1] = { ...last, text: last.text.slice(0, -1) };
      else if (!(isUnspaced(end) && isUnspaced(start)) && !/[\u2010-\u2014/-]$/.test(last.text)) {
        out[out.length - 1] = { ...last, text: `${last.text} ` };
      }
    }
    out.push(...runs);
  }
  return out;
}

/** `exam-` and `ple`; not `well-` and `Known`, not `2019-` and `20`. */
const isHyphenated = (text: string, next: string): boolean =>
  /\p{Ll}[-\u2010\u00ad]$/u.test(text) && /\p{Ll}/u.test(next);
