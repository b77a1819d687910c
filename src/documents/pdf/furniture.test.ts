/** Rows at the edges of pages: what is repeated is left out, what only looks similar stays. */
import { describe, expect, it } from 'vitest';
import { htmlOf, parse } from '../parse.suite.ts';
import { drawPdf, write } from './drawn.suite.ts';
import { kind } from './pdf.ts';

const PROSE = ['The boats leave the harbour before the sun is up and come back at noon.', 'Then the market opens.'];

const htmlOfPages = async (rows: readonly string[], y: number): Promise<string> => {
  const pages = rows.map((row) => ({ content: write(60, y, [row]) + write(60, 600, PROSE) }));
  return htmlOf(await parse(kind, drawPdf({ pages })));
};

describe('furniture', () => {
  it('is a row whose text is the same but for its numbers, on three pages', async () => {
    const slugs = ['harbour.indd 7 14/09/18 10:37', 'harbour.indd 9 14/09/18 10:41', 'harbour.indd 12 15/09/18 9:02'];
    expect(await htmlOfPages(slugs, 30)).not.toContain('indd');
    expect(await htmlOfPages(slugs.slice(0, 2), 30)).toContain('indd');
    expect(await htmlOfPages(slugs, 500)).toContain('indd');
  });

  it('is not a numbered heading, whatever its alphabet', async () => {
    const html = await htmlOfPages(['1 \xc9\xe9\xe8', '2 \xc0\xe0\xe1', '3 \xd6\xf6\xf3'], 760);
    for (const heading of ['1 Ééè', '2 Ààá', '3 Ööó']) expect(html).toContain(heading);
  });
});
