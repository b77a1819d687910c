/** Test helpers: the tables in a piece of HTML. */
import { type Element, elements, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';

/** Each table as rows of text cells; `th` cells begin with `#`. */
export const tablesOf = (html: string): string[][][] =>
  [...elements(parseFragment(html), 'table')].map((table) =>
    [...elements(table, 'tr')].map((row) =>
      [...elements(row)].filter(isCell).map((cell) => (cell.name === 'th' ? '#' : '') + textOf(cell)),
    ),
  );

const isCell = ({ name }: Element) => name === 'td' || name === 'th';

/** Share of the expected cells that are in the right table, row and column, 0 to 1. */
export function cellScore(found: readonly string[][][], expected: readonly string[][][]): number {
  let right = 0;
  let all = 0;
  for (const [t, table] of expected.entries())
    for (const [r, row] of table.entries())
      for (const [c, cell] of row.entries()) {
        all++;
        if (found[t]?.[r]?.[c] === cell) right++;
      }
  return right / all;
}
