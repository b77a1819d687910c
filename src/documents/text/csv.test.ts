// Full run only: parses large files.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { tablesOf } from '../office/sheet/tables.suite.ts';
import { kind, readRows } from './csv.ts';

const parse = (content: string | Uint8Array, mediaType = 'text/csv', contentType?: string) => {
  const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : content;
  return kind.parse({ path: '', size: bytes.length, mediaType, contentType }, bytes, {});
};
const tableOf = async (content: string | Uint8Array, mediaType?: string, contentType?: string) => {
  const { pages } = await parse(content, mediaType, contentType);
  return tablesOf(pages[0]!.html)[0];
};

describe('delimiters', () => {
  const cells = [
    ['#name', '#amount', '#town'],
    ['Ann', '3', 'Bonn'],
    ['Bob', '14', 'Kiel'],
  ];
  it.each([
    ['comma', ','],
    ['semicolon', ';'],
    ['tab', '\t'],
    ['pipe', '|'],
  ])('finds %s', async (_, delimiter) => {
    const text = cells.map((row) => row.map((cell) => cell.replace('#', '')).join(delimiter)).join('\n');
    expect(await tableOf(text)).toEqual(cells);
  });

  it('takes semicolons where commas are decimal points', async () => {
    expect(await tableOf('product;price;tax\nTea;3,50;0,24\nJam;2,10;0,15\n')).toEqual([
      ['#product', '#price', '#tax'],
      ['Tea', '3,50', '0,24'],
      ['Jam', '2,10', '0,15'],
    ]);
  });

  it('believes a type of tabs', async () => {
    expect(await tableOf('a,b\tc,d\n1,2\t3,4', 'text/tab-separated-values')).toEqual([
      ['#a,b', '#c,d'],
      ['1,2', '3,4'],
    ]);
  });

  it('believes a line that names it', async () => {
    expect(await tableOf('sep=;\r\na;b\r\n1;2,5\r\n')).toEqual([
      ['#a', '#b'],
      ['1', '2,5'],
    ]);
  });
});

describe('rows and fields', () => {
  it('reads quotes, doubled quotes, line breaks and delimiters inside quotes', async () => {
    expect(await tableOf('id,text\r\n1,"say ""hi"", then\r\ngo"\r\n2,"a,b"\r\n')).toEqual([
      ['#id', '#text'],
      ['1', 'say "hi", thengo'],
      ['2', 'a,b'],
    ]);
  });

  it('keeps line breaks of a cell as breaks', async () => {
    const { pages } = await parse('id,text\n1,"a\nb"');
    expect(pages[0]!.html).toContain('<td>a<br>b</td>');
  });

  it('takes a quote that is never closed as a character', () => {
    expect(readRows('a,"b\nc,d', { delimiter: ',', maxRows: 9 }).rows).toEqual([
      ['a', '"b'],
      ['c', 'd'],
    ]);
  });

  it('pads ragged rows', async () => {
    expect(await tableOf('a,b,c\n1\n2,3,4\n')).toEqual([
      ['#a', '#b', '#c'],
      ['1', '', ''],
      ['2', '3', '4'],
    ]);
  });

  it('does not pad a hundred thousand short rows to one very long', async () => {
    const { pages, notes } = await parse(`${'x,'.repeat(50_000)}\n${'1,2\n'.repeat(20_000)}`);
    expect(notes).toEqual([]);
    expect(pages[0]!.html.length).toBeLessThan(2_000_000);
  });

  it('gives back what was written', () => {
    const field = fc.string({ unit: fc.constantFrom('a', 'é', '"', ',', ';', '\n', '\r', ' ', '1', '😀') });
    const rows = fc.array(fc.array(field, { minLength: 1, maxLength: 5 }), { maxLength: 8 });
    fc.assert(
      fc.property(rows, fc.constantFrom(',', ';', '\t', '|'), (given, delimiter) => {
        const filled = given.filter((row) => row.some((value) => value.trim() !== ''));
        const text = filled
          .map((row) => row.map((value) => `"${value.replaceAll('"', '""')}"`).join(delimiter))
          .join('\r\n');
        expect(readRows(text, { delimiter, maxRows: 99 }).rows).toEqual(filled);
      }),
      { seed: 1, numRuns: 500 },
    );
  });
});

describe('headers', () => {
  it('has none when the first row is data', async () => {
    expect(await tableOf('Ann,3\nBob,4')).toEqual([
      ['Ann', '3'],
      ['Bob', '4'],
    ]);
  });

  it('takes distinct texts over texts', async () => {
    expect((await tableOf('first,last\nAnn,Lee\nBob,Ray'))?.[0]).toEqual(['#first', '#last']);
  });

  it('takes years over amounts', async () => {
    expect((await tableOf('Item,2023,2024\nTea,12,15\nJam,7,9'))?.[0]).toEqual(['#Item', '#2023', '#2024']);
  });
});

describe('bytes', () => {
  it.each([
    ['UTF-8 with a mark', Buffer.from('\ufeffName,Ort\nJörg,Köln'), undefined],
    ['UTF-16', Buffer.from('\ufeffName,Ort\nJörg,Köln', 'utf16le'), undefined],
    ['a declared charset', Buffer.from('Name,Ort\nJörg,Köln', 'latin1'), 'text/csv; charset=iso-8859-1'],
  ])('reads %s', async (_, bytes, contentType) => {
    expect(await tableOf(bytes, 'text/csv', contentType)).toEqual([
      ['#Name', '#Ort'],
      ['Jörg', 'Köln'],
    ]);
  });

  it('never lets text become markup', async () => {
    const value = fc.string({ unit: fc.constantFrom('<', '>', '&', '"', "'", '/', 'td', 'script', 'b', '\0', ' ') });
    await fc.assert(
      fc.asyncProperty(value, async (text) => {
        const table = await tableOf(`k,v\n1,"${text.replaceAll('"', '""')}"`, 'text/csv');
        expect(table?.[1]?.[1] ?? '').toBe(text.replaceAll('\0', '').trim());
      }),
      { seed: 2, numRuns: 300 },
    );
  });

  it('is empty for an empty file', async () => {
    expect(await parse('\n \n')).toMatchObject({ title: '', pages: [{ number: 1, html: '' }], notes: [] });
  });

  it('stops after 100,000 rows and says so', async () => {
    const { pages, notes } = await parse(`id,name\n${'7,x\n'.repeat(100_001)}`);
    expect(notes).toEqual(['Only the first 100,000 rows are shown']);
    expect(pages[0]!.html.match(/<tr>/g)).toHaveLength(100_000);
  });

  it('stops at 32 MiB of HTML and says so', async () => {
    const { pages, notes } = await parse(`id,name\n${`7,${'x'.repeat(1000)}\n`.repeat(40_000)}`);
    expect(notes).toEqual(['The table is too large to be shown in full']);
    expect(pages[0]!.html.length).toBeLessThan(33.6e6);
    expect(pages[0]!.html.endsWith('</tbody></table>')).toBe(true);
  });

  it('reads rows of 200,000 fields', async () => {
    const { pages } = await parse(`${'a,'.repeat(200_000)}\n${'1,'.repeat(200_000)}`);
    expect(pages[0]!.html.length).toBeGreaterThan(4_000_000);
  });

  it('reads a megabyte of quotes', async () => {
    const { pages } = await parse('"'.repeat(1_000_001));
    expect(pages).toHaveLength(1);
  });
});
