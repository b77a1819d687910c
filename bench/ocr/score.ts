/** Scores a recognized page by comparison with its true text and tables. */

/** Rows of cells. The text of a cell that spans several columns is in the first of them; the others are empty. */
export type Table = readonly (readonly string[])[];

export interface Truth {
  readonly text: string;
  readonly tables: readonly Table[];
}

export interface Answer {
  readonly text: string;
  readonly tables: readonly Table[];
  /** Whether each table row may be shifted to the position where it matches best. */
  readonly rowsMove: boolean;
}

export interface Score {
  /**
   * Edit distance to the true text in reading order, divided by the length of the true text. White space is collapsed.
   */
  readonly characters: number;
  readonly words: number;
  /** Share of the words in the true text that were recognized anywhere. */
  readonly found: number;
  /** Share of neighbouring words in the true text that are still neighbours in the result, if both were recognized. */
  readonly order: number;
  /** Share of non-empty table cells in the right row and column. */
  readonly cells: number | undefined;
}

export function scoreOf(truth: Truth, answer: Answer): Score {
  const [want, got] = [evened(truth.text), evened(answer.text)];
  const [wanted, read] = [want.split(' '), got.split(' ')];
  return {
    characters: errorRate([...want], [...got]),
    words: errorRate(wanted, read),
    found: foundShare(wanted, read),
    order: orderShare(wanted, read),
    cells: cellShare(truth.tables, answer),
  };
}

/** Unifies equivalent characters and joins words hyphenated at line ends. */
const evened = (text: string): string =>
  text
    .normalize('NFKC')
    .replace(/[\u2018\u2019`\u00b4]/g, "'")
    .replace(/[\u201c\u201d]|''/g, '"')
    .replace(/[\u2010-\u2015\u2212]/g, '-')
    .replace(/(\p{Ll})[-\u00ad]\n\s*(?=\p{Ll})/gu, '$1')
    .replace(/\s+/g, ' ')
    .trim();

/** Levenshtein distance between two lists, divided by the length of the first list. */
export function errorRate(want: readonly string[], got: readonly string[]): number {
  let before = Uint32Array.from({ length: got.length + 1 }, (_, at) => at);
  let row = new Uint32Array(got.length + 1);
  for (let i = 1; i <= want.length; i++) {
    row[0] = i;
    for (let j = 1; j <= got.length; j++) {
      const change = before[j - 1]! + (want[i - 1] === got[j - 1] ? 0 : 1);
      row[j] = Math.min(change, before[j]! + 1, row[j - 1]! + 1);
    }
    [before, row] = [row, before];
  }
  return before[got.length]! / Math.max(1, want.length);
}

function counted(values: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}

/** Removes one occurrence of a value. Returns false if there is none. */
function taken(counts: Map<string, number>, value: string): boolean {
  const count = counts.get(value) ?? 0;
  if (count > 0) counts.set(value, count - 1);
  return count > 0;
}

function foundShare(want: readonly string[], got: readonly string[]): number {
  const left = counted(got);
  return want.filter((word) => taken(left, word)).length / Math.max(1, want.length);
}

const pairsOf = (words: readonly string[]): string[] => words.slice(1).map((word, at) => `${words[at]} ${word}`);

function orderShare(want: readonly string[], got: readonly string[]): number {
  const left = counted(got);
  const wasRead = want.map((word) => taken(left, word));
  const pairs = pairsOf(want).filter((_, at) => wasRead[at] && wasRead[at + 1]);
  const read = counted(pairsOf(got));
  return pairs.filter((pair) => taken(read, pair)).length / Math.max(1, pairs.length);
}

const dense = (text: string): string => evened(text).replaceAll(' ', '');

function cellShare(want: readonly Table[], { tables, rowsMove }: Answer): number | undefined {
  if (want.length === 0) return undefined;
  const filled = want.flat(2).filter((cell) => cell !== '').length;
  const got = tables.map((table) => table.map((row) => row.map(dense)));
  const right = want.map((table) => {
    const rows = table.map((row) => row.map(dense));
    return Math.max(0, ...got.map((other) => rightCells(rows, other, rowsMove)));
  });
  return right.reduce((sum, count) => sum + count, 0) / filled;
}

/** Maximum number of matching cells when the rows are aligned in order and the columns are shifted together. */
function rightCells(want: Table, got: Table, rowsMove: boolean): number {
  const width = Math.max(0, ...want.map((row) => row.length), ...got.map((row) => row.length));
  const moves = Array.from({ length: 2 * width + 1 }, (_, at) => at - width);
  const inRow = (a: readonly string[], b: readonly string[], move: number) =>
    a.filter((cell, at) => cell !== '' && cell === b[at + move]).length;
  const laid = (worth: (a: readonly string[], b: readonly string[]) => number) => {
    let before = new Array<number>(got.length + 1).fill(0);
    for (const row of want) {
      const next = [0];
      for (const [at, other] of got.entries())
        next.push(Math.max(next[at]!, before[at + 1]!, before[at]! + worth(row, other)));
      before = next;
    }
    return before.at(-1)!;
  };
  if (rowsMove) return laid((a, b) => Math.max(...moves.map((move) => inRow(a, b, move))));
  return Math.max(...moves.map((move) => laid((a, b) => inRow(a, b, move))));
}

/** How many of the numbers of a text occur in what was read, each as often as there. */
export function numbersRight(want: string, got: string): { right: number; all: number } {
  const numbers = (text: string) => text.match(/\d[\d.,:/-]*\d|\d/g) ?? [];
  const left = counted(numbers(got));
  const wanted = numbers(want);
  return { right: wanted.filter((number) => taken(left, number)).length, all: wanted.length };
}
