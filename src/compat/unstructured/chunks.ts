/**
 * Combines elements to chunks. `basic` fills chunks up to the limit; `by_title` also begins a chunk at each title, and
 * `by_page` at each page. Tables are chunks of their own.
 */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { UnstructuredElement } from './elements.ts';
import type { GeneralFields } from './fields.ts';

const SEPARATOR = '\n\n';

export function toChunks(elements: readonly UnstructuredElement[], asked: GeneralFields): UnstructuredElement[] {
  const texts = elements.filter(({ type }) => type !== 'PageBreak');
  const groups = sectionsOf(texts, asked).flatMap((section) => fill(section, asked));
  let tail = '';
  return combineSmall(groups, asked).flatMap((group) => {
    const [first] = group;
    const isTable = group.length === 1 && first!.type === 'Table';
    const text = group
      .map((element) => element.text)
      .filter(Boolean)
      .join(SEPARATOR);
    const before = asked.overlap_all && tail && !isTable ? `${tail} ` : '';
    const pieces = split(before + text, asked);
    tail = asked.overlap > 0 ? overlapOf(text, asked.overlap) : '';
    if (isTable && pieces.length <= 1) return [first!];
    return pieces.map((piece, at) =>
      chunkOf(piece, at, { group, type: isTable ? 'TableChunk' : 'CompositeElement', asked }),
    );
  });
}

const pageOf = ({ metadata }: UnstructuredElement) => metadata.page_number;

/** Parts between which no chunk is combined, except by `combine_under_n_chars`. */
function sectionsOf(elements: readonly UnstructuredElement[], asked: GeneralFields): UnstructuredElement[][] {
  const { chunking_strategy: strategy, multipage_sections: spans } = asked;
  const sections: UnstructuredElement[][] = [];
  let last: UnstructuredElement | undefined;
  for (const element of elements) {
    const isOtherPage = last !== undefined && pageOf(last) !== pageOf(element);
    const begins =
      !last ||
      (strategy === 'by_title' && (element.type === 'Title' || (!spans && isOtherPage))) ||
      (strategy === 'by_page' && isOtherPage);
    if (begins) sections.push([]);
    sections.at(-1)!.push(element);
    last = element;
  }
  return sections;
}

/** The elements of a section in groups that are not longer than the limits; a long element is a group of its own. */
function fill(section: readonly UnstructuredElement[], asked: GeneralFields): UnstructuredElement[][] {
  const { max_characters: max, new_after_n_chars: soft = max } = asked;
  const groups: UnstructuredElement[][] = [];
  let length = 0;
  for (const element of section) {
    const longer = length + SEPARATOR.length + element.text.length;
    const last = groups.at(-1);
    const fits = last && last[0]!.type !== 'Table' && element.type !== 'Table' && longer <= max && length < soft;
    if (fits) {
      last.push(element);
      length = longer;
    } else {
      groups.push([element]);
      length = element.text.length;
    }
  }
  return groups;
}

const lengthOf = (group: readonly UnstructuredElement[]) =>
  group.reduce((sum, { text }) => sum + text.length, (group.length - 1) * SEPARATOR.length);

/** With `by_title`, combines neighbouring groups that are shorter than `combine_under_n_chars`. */
function combineSmall(groups: readonly UnstructuredElement[][], asked: GeneralFields): UnstructuredElement[][] {
  const { chunking_strategy: strategy, max_characters: max, combine_under_n_chars: under = max } = asked;
  if (strategy !== 'by_title') return [...groups];
  const out: UnstructuredElement[][] = [];
  for (const group of groups) {
    const last = out.at(-1);
    const isText = (some: readonly UnstructuredElement[]) => some.every(({ type }) => type !== 'Table');
    const joined = last ? lengthOf(last) + SEPARATOR.length + lengthOf(group) : 0;
    const mayJoin =
      last &&
      isText(last) &&
      isText(group) &&
      lengthOf(last) < under &&
      joined <= max &&
      (asked.multipage_sections || pageOf(last.at(-1)!) === pageOf(group[0]!));
    if (mayJoin) last.push(...group);
    else out.push([...group]);
  }
  return out;
}

/** Splits at white space. Each piece after the first repeats the end of the one before. */
function split(text: string, { max_characters: max, overlap }: GeneralFields): string[] {
  const repeated = Math.min(overlap, Math.floor(max / 2));
  const pieces: string[] = [];
  let rest = text;
  while (rest.length > max) {
    const space = rest.lastIndexOf(' ', max);
    const end = space > max / 2 ? space : max;
    const piece = rest.slice(0, end).trimEnd();
    pieces.push(piece);
    const next = rest.slice(end).trimStart();
    const repeat = repeated > 0 ? overlapOf(piece, repeated) : '';
    // The repeated text must not make the rest longer than it was.
    rest = repeat && repeat.length + 1 + next.length < rest.length ? `${repeat} ${next}` : next;
  }
  if (rest) pieces.push(rest);
  return pieces;
}

/** The last characters of a text, from the beginning of a word. */
function overlapOf(text: string, characters: number): string {
  const end = text.slice(-characters);
  const space = end.search(/\s/);
  return text.length > characters && space >= 0 ? end.slice(space).trimStart() : end;
}

interface ChunkSource {
  readonly group: readonly UnstructuredElement[];
  readonly type: string;
  readonly asked: GeneralFields;
}

/** Metadata that all elements of a file share. */
const SHARED = ['filename', 'filetype', 'languages', 'page_number', 'page_name', 'sent_from', 'sent_to', 'subject'];

function chunkOf(text: string, at: number, { group, type, asked }: ChunkSource): UnstructuredElement {
  const { metadata, element_id: first } = group[0]!;
  const shared = Object.fromEntries(Object.entries(metadata).filter(([name]) => SHARED.includes(name)));
  return {
    type,
    element_id: createHash('sha256').update([first, at, text].join('\0')).digest('hex').slice(0, 32),
    text,
    metadata: {
      ...shared,
      ...(at > 0 && { is_continuation: true }),
      ...(asked.include_orig_elements && { orig_elements: packed(group) }),
    },
  };
}

const packed = (group: readonly UnstructuredElement[]): string => gzipSync(JSON.stringify(group)).toString('base64');
