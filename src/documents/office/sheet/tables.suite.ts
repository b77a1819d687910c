/** For tests: what stands in the tables of some HTML. */
import { type Element, elements, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';

/** Each table as rows of cells as text; `th` cells begin with `#`. */
export const tablesOf = (html: string): string[][][] =>
  [...elements(parseFragment(html), 'table')].map((table) =>
    [...elements(table, 'tr')].map((row) =>
      [...elements(row)].filter(isCell).map((cell) => (cell.name === 'th' ? '#' : '') + textOf(cell)),
    ),
  );

const isCell = ({ name }: Element) => name === 'td' || name === 'th';

/** The part, from 0 to 1, of the expected cells that stand where they should: same table, row and column. */
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
