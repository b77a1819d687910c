/** Sheets and parts of sheets that consist of single cells: tables, titles and running text. */
import { describe, expect, it } from 'vitest';
import { parse } from '../../parse.suite.ts';
import { tablesOf } from './tables.suite.ts';
import { rowsOf, workbook } from './workbook.suite.ts';
import { kind } from './xlsx.ts';

type Rows = Parameters<typeof rowsOf>[0];

const htmlOf = async (rows: Rows): Promise<string> =>
  (await parse(kind, workbook({ sheets: [{ rows: rowsOf(rows) }] }))).pages[0]!.html;
const tables = async (rows: Rows) => tablesOf(await htmlOf(rows));

const SENTENCE = 'The figures of this sheet were collected by hand and have not been checked by anybody.';

describe('tables', () => {
  it.each<[string, Rows, string[][]]>([
    ['a column of texts', [['Oak'], ['Ash'], ['Elm']], [['Oak'], ['Ash'], ['Elm']]],
    ['two texts that are the whole sheet', [['Oak'], ['Ash']], [['Oak'], ['Ash']]],
    ['a column with empty cells', [['Oak'], [], ['Ash'], [], [], ['Elm']], [['Oak'], ['Ash'], ['Elm']]],
    ['a column of numbers with its name', [['Height'], [3], [4]], [['#Height'], ['3'], ['4']]],
    ['one row', [['Oak', 'Ash', 7]], [['Oak', 'Ash', '7']]],
    [
      'cells in different columns',
      [['Oak'], [undefined, 'Ash'], [undefined, undefined, 'Elm']],
      [
        ['Oak', '', ''],
        ['', 'Ash', ''],
        ['', '', 'Elm'],
      ],
    ],
    [
      'a column whose last row has a second cell',
      [['Oak'], ['Ash'], ['Sum', 7]],
      [
        ['Oak', ''],
        ['Ash', ''],
        ['Sum', '7'],
      ],
    ],
    ['a column with one long remark', [['Oak '.repeat(9)], ['Ash '.repeat(9)], [SENTENCE.slice(0, 61)]], []],
  ])('%s', async (_, rows, expected) => {
    const found = await tables(rows);
    if (expected.length > 0) expect(found).toEqual([expected]);
    else expect(found[0]).toHaveLength(rows.length);
  });

  it('says that a table of one column is a table', async () => {
    expect(await htmlOf([['Oak'], ['Ash'], ['Elm']])).toContain('<table role="table">');
  });
});

describe('text', () => {
  it.each<[string, Rows, number]>([
    ['one cell', [['Oak']], 0],
    ['a column of sentences', [['Remarks'], [SENTENCE], [SENTENCE], ['None.']], 0],
    ['two titles above a table', [['Trees'], ['of the park'], [], ['Tree', 'Height'], ['Oak', 7], ['Ash', 8]], 1],
    ['a title directly above a table', [['Trees'], ['Tree', 'Height'], ['Oak', 7], ['Ash', 8]], 1],
  ])('%s', async (_, rows, count) => {
    const html = await htmlOf(rows);
    expect(html).toContain('<p>');
    expect(tablesOf(html)).toHaveLength(count);
  });
});
