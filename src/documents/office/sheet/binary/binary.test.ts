/** Binary workbooks (XLSB). */
import { describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../../../parse.suite.ts';
import { tablesOf } from '../tables.suite.ts';
import { kind } from '../xlsx.ts';
import { type BinarySheet, binaryWorkbook, cell, double, record, row, string, u8, u16, u32 } from './binary.suite.ts';

const read = (sheets: readonly BinarySheet[], strings?: readonly string[], parts?: Record<string, Uint8Array>) =>
  parse(kind, binaryWorkbook(sheets, strings, parts));

const shared = (column: number, index: number, style = 0) => cell(7, column, u32(index), style);
const text = (column: number, value: string) => cell(6, column, string(value));

describe('binary workbooks', () => {
  it('have the cells of each type, in their formats', async () => {
    const rich = Buffer.concat([u8(1), string('rich & long'), u32(1), u16(0, 1)]);
    const data = [
      row(0),
      shared(0, 0, 2),
      shared(1, 1, 2),
      shared(2, 2, 2),
      row(1),
      text(0, 'Oak'),
      cell(5, 1, double(45360), 1),
      cell(2, 2, u32((1234 << 2) | 3), 3),
      row(2),
      cell(62, 0, rich),
      cell(2, 1, u32(0x3ff80000)),
      cell(2, 2, u32(((-7 << 2) | 2) >>> 0)),
      row(3),
      cell(8, 0, Buffer.concat([string('made'), u16(0)])),
      cell(4, 1, u8(1)),
      cell(3, 2, u8(0x07)),
      row(4),
      cell(9, 0, Buffer.concat([double(2.5), u16(0)])),
      cell(10, 1, u8(0)),
      cell(11, 2, u8(0x2a)),
    ];
    const document = await read([{ name: 'Trees & more', data }], ['Tree', 'Planted', 'Weight']);
    expect(htmlOf(document)).toContain('<h2>Trees &amp; more</h2>');
    expect(tablesOf(htmlOf(document))).toEqual([
      [
        ['#Tree', '#Planted', '#Weight'],
        ['Oak', '3/9/2024', '12.3 kg'],
        ['rich & long', '1.5', '-7'],
        ['made', 'TRUE', '#DIV/0!'],
        ['2.5', 'FALSE', '#N/A'],
      ],
    ]);
    expect(document.notes).toEqual([]);
  });

  it('leave hidden sheets, rows, columns and white text out', async () => {
    const data = [
      row(0),
      text(0, 'Tree'),
      text(1, 'Secret'),
      text(2, 'Height'),
      row(1),
      text(0, 'Oak'),
      cell(5, 2, double(7)),
      row(2, true),
      text(0, 'Gone'),
      row(3),
      cell(6, 0, string('white'), 4),
      cell(5, 2, double(8)),
    ];
    const columns = record(60, u32(1, 1, 2560, 0), u16(1));
    const document = await read([
      { name: 'Shown', before: [columns], data },
      { name: 'Far', hidden: true, data: [] },
    ]);
    expect(tablesOf(htmlOf(document))).toEqual([
      [
        ['#Tree', '#Height'],
        ['Oak', '7'],
        ['', '8'],
      ],
    ]);
    expect(document).toMatchObject({ pageCount: 1, hiddenCount: 4 });
  });

  it('have merged cells, links and declared tables', async () => {
    const data = [row(0), text(0, 'a'), text(1, 'b'), text(3, 'c'), row(1), text(1, '7'), text(3, 'd')];
    const range = (top: number, bottom: number, left: number, right: number) => u32(top, bottom, left, right);
    const after = [
      record(176, range(0, 1, 0, 0)),
      record(494, range(0, 0, 1, 1), string('l1'), string(''), string(''), string('')),
      record(661, string('t1')),
    ];
    const document = await read(
      [
        {
          name: 'Data',
          data,
          after,
          relationships: [
            ['hyperlink', 'l1', 'https://trees.example/'],
            ['table', 't1', '../tables/table1.bin'],
          ],
        },
      ],
      [],
      { 'xl/tables/table1.bin': record(343, range(0, 1, 3, 3), u32(0, 1, 1, 0)) },
    );
    const html = htmlOf(document);
    expect(html).toContain('rowspan="2">a</t');
    expect(html).toContain('<a href="https://trees.example/">b</a>');
    expect(tablesOf(html)).toContainEqual([['#c'], ['d']]);
  });

  it('keep what can be read of a damaged sheet', async () => {
    const short = record(6, u32(1, 0), u32(1_000));
    const cut = Buffer.from([6, 0x7f, 1]);
    const document = await read([
      { name: 'Short', data: [row(0), text(0, 'Oak'), short, text(2, 'Elm')] },
      { name: 'Cut', data: [row(0), text(0, 'Ash'), text(1, 'Fir'), cut] },
    ]);
    expect(htmlOf(document)).toMatch(/Oak.*Elm.*Ash.*Fir/s);
    expect(document.notes).toEqual([
      'The sheet “Short” could only be read in part',
      'The sheet “Cut” could only be read in part',
    ]);
  });

  it('stay within limits when a file names immense positions', async () => {
    const columns = record(60, u32(0, 0xffff_fffe, 2560, 0), u16(0));
    const merge = record(176, u32(0, 0xffff_ffff, 0, 0xffff_ffff));
    const data = [row(0xffff_ffff), text(0xffff_ffff, 'x'), row(1_048_575), text(16_383, 'y')];
    const html = htmlOf(await read([{ name: 'Far', before: [columns], data, after: [merge] }]));
    expect(html.length).toBeLessThan(500);
  });
});
