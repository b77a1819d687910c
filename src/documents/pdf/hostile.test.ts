// Full run only: parses hostile files for a long time.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ELEMENT, elements } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { DocumentError } from '../document.ts';
import { drawPdf, page, write } from './drawn.suite.ts';
import { parsePdf } from './printed.suite.ts';

const faultOf = async (bytes: Uint8Array): Promise<string> => {
  const error = await parsePdf(bytes).then(
    () => null,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(DocumentError);
  expect((error as DocumentError).message).not.toMatch(/\/|\.mjs|node_modules/);
  return (error as DocumentError).kind;
};

const sample = () => drawPdf(page(write(60, 700, ['A line of text that can be read.'])));
const text = (value: string) => new TextEncoder().encode(value);

describe('damaged files', () => {
  it.each([
    ['empty', ''],
    ['no PDF', '<html>not a pdf</html>'],
    ['a header alone', '%PDF-1.7\n'],
    ['no page', '%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer << /Root 1 0 R >>\n%%EOF'],
  ])('are reported as damaged: %s', async (_, content) => {
    expect(await faultOf(text(content))).toBe('damaged');
  });

  it('are read without their cross-reference table', async () => {
    const bytes = sample();
    const whole = new TextDecoder('latin1').decode(bytes);
    const cut = bytes.slice(0, whole.indexOf('xref'));
    const lying = text(whole.replace(/startxref\n\d+/, 'startxref\n99999999'));
    expect((await parsePdf(bytes)).notes).toEqual([]);
    for (const file of [cut, lying]) {
      const { pages, notes } = await parsePdf(file);
      expect(pages[0]!.html).toBe('<p>A line of text that can be read.</p>');
      expect(notes).toEqual(['The PDF is damaged or cut off; only the readable part is included']);
    }
  });

  it('yield text or an error wherever they are cut off', async () => {
    const bytes = sample();
    for (let length = 0; length < bytes.length; length += 61) {
      const result = await parsePdf(bytes.slice(0, length)).catch((error: unknown) => error);
      if (result instanceof Error) expect(result).toBeInstanceOf(DocumentError);
    }
  });

  it('yield text or an error whatever bytes are changed', async () => {
    const bytes = sample();
    const change = fc.array(fc.tuple(fc.nat(bytes.length - 1), fc.nat(255)), { minLength: 1, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(change, async (changes) => {
        const changed = bytes.slice();
        for (const [at, value] of changes) changed[at] = value;
        const result = await parsePdf(changed).catch((error: unknown) => error);
        if (result instanceof Error) expect(result).toBeInstanceOf(DocumentError);
      }),
      { seed: 7, numRuns: 40 },
    );
  }, 120_000);

  it('are read as far as their pages are intact', async () => {
    const file = drawPdf({
      pages: [1, 2, 3].map((number) => ({ content: write(60, 700, [`Page ${number} has text`]) })),
    });
    const broken = new TextDecoder('latin1').decode(file).replace(/\n12 0 obj\n<<[^\n]*>>/, '\n12 0 obj\n42');
    const { pages, notes } = await parsePdf(text(broken));
    expect(pages.map(({ html }) => html)).toEqual(['<p>Page 1 has text</p>']);
    expect(notes.join()).toMatch(/Pages? 2.* could not be read/);
  });
});

/** A PDF whose first page draws a hundred million forms. */
function slow(...more: { content: string }[]): Uint8Array {
  const forms = Array.from({ length: 9 }, (_, at) => {
    const content = at === 8 ? 'q Q' : '/L Do '.repeat(10);
    const inner = `/Resources << /XObject << /L ${11 + at} 0 R >> >>`;
    return `<< /Type /XObject /Subtype /Form /BBox [0 0 9 9] ${inner} /Length ${content.length} >>\nstream\n${content}\nendstream`;
  });
  return drawPdf({
    pages: [{ content: '/L Do' }, ...more],
    objects: forms,
    resources: `/XObject << /L 10 0 R >>`,
  });
}

describe('files with very much content', () => {
  it('reads a page of very many words in one place', async () => {
    const words = Array.from(
      { length: 20_000 },
      (_, at) => `BT /F1 8 Tf ${at % 500} ${(at * 7) % 800} Td (w${at}) Tj ET`,
    );
    const { pages } = await parsePdf(drawPdf(page(words.join('\n'))));
    expect(pages[0]!.html.length).toBeGreaterThan(20_000);
  }, 120_000);

  it('reads a page of very many lines and areas', async () => {
    const lines = Array.from(
      { length: 30_000 },
      (_, at) => `${at % 550} ${(at * 13) % 800} m ${(at * 7) % 550} ${(at * 13) % 800} l S`,
    );
    const areas = Array.from({ length: 10_000 }, (_, at) => `${at % 500} ${(at * 3) % 800} 20 20 re f`);
    const content = [...lines, '0.9 g', ...areas, '0 g', write(60, 400, ['Still here'])].join('\n');
    expect((await parsePdf(drawPdf(page(content)))).pages[0]!.html).toContain('Still here');
  }, 120_000);

  it('reads a page with a gap after every word', async () => {
    const words: string[] = [];
    for (let row = 0; row < 150; row++) {
      for (let column = 0; column < 70; column++) {
        const size = (row + column) % 3 === 0 ? 2 : 1.5;
        words.push(`BT /F1 ${size} Tf ${20 + 8 * column} ${820 - 5 * row} Td (a${column}) Tj ET`);
      }
    }
    expect((await parsePdf(drawPdf(page(words.join('\n'))))).pages[0]!.html).toContain('a69');
  }, 120_000);

  it('reads a form that draws itself, states that are never restored, and nested marks', async () => {
    const form =
      '<< /Type /XObject /Subtype /Form /BBox [0 0 600 900] /Resources << /XObject << /L 10 0 R >> >> /Length 8 >>\nstream\n/L Do   \nendstream';
    const content = `/L Do ${'q '.repeat(3_000)} ${'/P BMC '.repeat(30_000)} ${write(60, 400, ['Still here'])}`;
    const bytes = drawPdf({ pages: [{ content }], objects: [form], resources: '/XObject << /L 10 0 R >>' });
    expect((await parsePdf(bytes)).pages[0]!.html).toBe('<p>Still here</p>');
  }, 120_000);

  it('skips a page that takes too long, and refuses a file if no page is read in time', async () => {
    // Both tests wait for the time limit of a page.
    const [{ pages, notes }, fault] = await Promise.all([
      parsePdf(slow({ content: write(60, 700, ['The second page']) })),
      faultOf(slow()),
    ]);
    expect(pages.map(({ number, html }) => `${number} ${html}`)).toEqual(['2 <p>The second page</p>']);
    expect(notes).toEqual(['Page 1 could not be read']);
    expect(fault).toBe('too large');
  }, 240_000);
});

describe('files with a password', () => {
  it('are refused if they need it to be opened, and read if it only restricts changes', async () => {
    const fixture = (name: string) =>
      new Uint8Array(readFileSync(path.join(import.meta.dirname, '../../../test/fixtures/office', name)));
    expect(await faultOf(fixture('asks-for-password.pdf'))).toBe('encrypted');
    expect((await parsePdf(fixture('forbids-changes.pdf'))).pages[0]!.html).toContain('An open text.');
  });
});

describe('the text of a page', () => {
  it('never becomes markup', async () => {
    const sign = fc.constantFrom('<', '>', '&', '"', "'", 'a', 'b', '/', '=', ' ', '(', ')', '-', '1', '.', '*');
    await fc.assert(
      fc.asyncProperty(fc.array(sign, { minLength: 1, maxLength: 60 }), async (signs) => {
        const { pages } = await parsePdf(drawPdf(page(write(20, 700, [signs.join('')]))));
        const tree = parseDocument(`<body>${pages[0]!.html}</body>`);
        const names = [...elements(tree)].filter(({ type }) => type === ELEMENT).map(({ name }) => name);
        const known = new Set(['html', 'head', 'body', 'p', 'ul', 'ol', 'li']);
        expect(names.filter((name) => !known.has(name))).toEqual([]);
      }),
      { seed: 11, numRuns: 50 },
    );
  }, 120_000);

  it('leaves the given bytes unchanged', async () => {
    const bytes = sample();
    const before = bytes.slice();
    await parsePdf(bytes);
    expect(bytes).toEqual(before);
  });
});
