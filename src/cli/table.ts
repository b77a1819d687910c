/** Text tables: columns under headings, numbers right-aligned. */

/** Formats the lines of a table; `whenEmpty` is the only line if there are no rows. */
export function tableLines(
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
  whenEmpty: string,
): string[] {
  if (!rows.length) return [whenEmpty];
  const cells = rows.map((row) => row.map((cell) => (typeof cell === 'number' ? cell.toLocaleString('en-US') : cell)));
  const widths = headings.map((heading, at) =>
    cells.reduce((most, row) => Math.max(most, (row[at] ?? '').length), heading.length),
  );
  const isNumber = headings.map((_, at) => typeof rows[0]![at] === 'number');
  const line = (row: readonly string[]) =>
    row
      .map((cell, at) => (isNumber[at] ? cell.padStart(widths[at]!) : cell.padEnd(widths[at]!)))
      .join('  ')
      .trimEnd();
  return [line(headings), ...cells.map(line)];
}
