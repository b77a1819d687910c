// Full run only: writes large files.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { elements, textOf } from '#html/node.ts';
import { parseFragment } from '#html/parse.ts';
import { faultOf, htmlOf, parse } from '../../parse.suite.ts';
import { kind } from './rtf.ts';

const rtf = (body: string, header = ''): Uint8Array =>
  Buffer.from(
    `{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Times;}{\\f1\\fmodern Courier New;}{\\f2\\fcharset128 MS Mincho;}{\\f3\\fcharset204 Arial;}{\\f4\\fcharset2 Symbol;}}${header}\n${body}}`,
    'latin1',
  );
const read = (body: string, header?: string) => parse(kind, rtf(body, header));
const html = async (body: string, header?: string) => htmlOf(await read(body, header));

describe('letters', () => {
  it('are in the code page of their font or of the document', async () => {
    expect(
      await html("caf\\'e9 \\'93x\\'94 {\\f3 \\'cf\\'f0\\'e8}{\\f2 \\'93\\'fa\\'96{\\b\\'7b}\\'83e}{\\f4 \\'61}\\par"),
    ).toMatch(/^<p>café “x” При日/);
    expect(await html("{\\f2 \\'93\\'fa\\'96\\'7b\\'83e}\\par")).toBe('<p>日本テ</p>');
    expect(await html("{\\f4 \\'61}\\par")).toBe('<p>α</p>');
  });

  it('are Unicode, with as many letters for old readers as are said', async () => {
    expect(await html("\\u8364?5 \\uc2\\u-10179\\'3f\\'3f\\u-8704 ??\\uc0\\u228 x\\par")).toBe('<p>€5 😀äx</p>');
    expect(await html('{\\upr{ansi}{\\*\\ud{uni\\u231 ?ode}}}\\par')).toBe('<p>uniçode</p>');
  });

  it('may be symbols', async () => {
    expect(await html('a\\emdash b\\~c\\-d\\_e\\{f\\}\\\\\\tab g\\line h\\par')).toBe(
      '<p>a—b&nbsp;cd-e{f}\\\tg<br>h</p>',
    );
  });
});

describe('text', () => {
  it('has marks that end with their group', async () => {
    expect(await html('a {\\b b {\\i c}} d\\super 2\\nosupersub {\\strike x}{\\f1 code}\\par')).toBe(
      '<p>a <b>b <i>c</i></b> d<sup>2</sup><s>x</s><code>code</code></p>',
    );
  });

  it('is headed by styles and levels', async () => {
    const styles = '{\\stylesheet{Normal;}{\\s1\\b\\outlinelevel0 heading 1;}{\\*\\cs2 Strong;}{\\s3 Title;}}';
    const found = await read(
      '\\pard\\s3 The title\\par\\pard\\s1\\b One\\b0\\par\\pard\\outlinelevel2 Three\\par\\pard text\\par',
      styles,
    );
    expect(htmlOf(found).split('\n')).toEqual(['<h1>The title</h1>', '<h1>One</h1>', '<h3>Three</h3>', '<p>text</p>']);
    expect(found.title).toBe('The title');
  });

  it('that nobody sees is left out and counted', async () => {
    const found = await read(
      'seen{\\v hidden}{\\cf1 white}{\\cf1\\highlight2 marked}{\\deleted gone}{\\*\\unknown stuff}{\\header head}{\\pict 00ff}\\par',
      '{\\colortbl;\\red255\\green255\\blue255;\\red0\\green0\\blue0;}',
    );
    expect(htmlOf(found)).toBe('<p>seenmarked</p>');
    expect(found.hiddenCount).toBe(2);
  });

  it('has links', async () => {
    const field = (address: string) => `{\\field{\\*\\fldinst{HYPERLINK "${address}"}}{\\fldrslt{\\ul there}}}`;
    expect(await html(`${field('https://example.com/?a=1&b=2')} ${field('file:///etc/passwd')}\\par`)).toBe(
      '<p><a href="https://example.com/?a=1&amp;b=2">there</a> there</p>',
    );
  });

  it('has notes and boxes beside it', async () => {
    expect(
      await html(
        'Text{\\super\\chftn}{\\footnote\\pard{\\super\\chftn} The note.} on.{\\shp{\\*\\shpinst{\\sp{\\sn a}{\\sv b}}{\\shptxt boxed\\par}}}\\par',
      ),
    ).toBe(
      '<p>Text<sup><a href="#fn-1" id="fnref-1">1</a></sup> on.</p>\n<p>boxed</p>\n<ol><li id="fn-1">The note.</li></ol>',
    );
  });

  it('has pages', async () => {
    const found = await read('one\\par\\page two\\par\\pard\\pagebb three\\par');
    expect(found.pages.map((page) => page.html)).toEqual(['<p>one</p>', '<p>two</p>', '<p>three</p>']);
    expect((await parse(kind, rtf('one\\par\\page two\\par'), 2)).pages).toEqual([{ number: 2, html: '<p>two</p>' }]);
  });
});

describe('lists', () => {
  const lists =
    "{\\*\\listtable{\\list{\\listlevel\\levelnfc0\\levelstartat1{\\leveltext\\'02\\'00.;}{\\levelnumbers\\'01;}}{\\listlevel\\levelnfc23{\\leveltext\\'01\\u8226 ?;}{\\levelnumbers;}}\\listid7}}{\\*\\listoverridetable{\\listoverride\\listid7\\listoverridecount0\\ls1}}";

  it('come from the list table', async () => {
    expect(
      await html(
        '\\pard\\ls1{\\listtext 1.}one\\par\\ilvl1 {\\listtext *}dot\\par\\pard\\ls1 two\\par\\pard text\\par\\pard\\ls1 three\\par',
        lists,
      ),
    ).toBe('<ol><li>one<ul><li>dot</li></ul></li>\n<li>two</li></ol>\n<p>text</p>\n<ol start="3"><li>three</li></ol>');
  });

  it('may be of the older kind', async () => {
    expect(
      await html(
        "\\pard{\\pntext\\'b7}{\\*\\pn\\pnlvlblt{\\pntxtb\\'b7}}one\\par two\\par\\pard{\\*\\pn\\pnlvlbody\\pndec}a\\par b\\par",
      ),
    ).toBe('<ul><li>one</li>\n<li>two</li></ul>\n<ol><li>a</li>\n<li>b</li></ol>');
  });
});

describe('tables', () => {
  it('have merged cells by flags and by edges', async () => {
    const row = (shape: string, ...cells: string[]) =>
      `\\trowd${shape}\\pard\\intbl ${cells.map((text) => `${text}\\cell `).join('')}\\row`;
    const body =
      row('\\cellx2000\\cellx3000', 'wide', 'b') +
      row('\\clvmgf\\cellx1000\\cellx2000\\cellx3000', 'c', '1', '2') +
      row('\\clvmrg\\cellx1000\\clmgf\\cellx2000\\clmrg\\cellx3000', '', '3', '');
    expect(await html(`before\\par ${body}\\pard after\\par`)).toBe(
      '<p>before</p>\n<table><thead><tr><th colspan="2">wide</th><th>b</th></tr></thead><tbody><tr><td rowspan="2">c</td><td>1</td><td>2</td></tr><tr><td colspan="2">3</td></tr></tbody></table>\n<p>after</p>',
    );
  });

  it('in tables become lines', async () => {
    const inner =
      '\\pard\\intbl\\itap2 k\\nestcell v\\nestcell{\\*\\nesttableprops\\trowd\\cellx500\\cellx900\\nestrow}{\\nonesttables\\par}';
    expect(
      await html(`\\trowd\\cellx1000\\cellx2000 ${inner}\\pard\\intbl\\itap1 x\\cell y\\cell\\row\\pard end\\par`),
    ).toBe('<table><tbody><tr><td>k: v<br>x</td><td>y</td></tr></tbody></table>\n<p>end</p>');
  });
});

it('returns the metadata of the document', async () => {
  const found = await read(
    'x\\par',
    '{\\info{\\title The \\u8364?}{\\author Ann}{\\author Bob}{\\creatim\\yr2020\\mo1\\dy2}{\\revtim\\yr2021\\mo2\\dy3\\hr4\\min5}{\\nofpages3}}',
  );
  expect(found).toMatchObject({
    title: 'The €',
    metadata: { creator: 'Ann' },
    publishedTime: '2021-02-03T04:05:00.000Z',
  });
});

describe('bad files', () => {
  const faultWith = (bytes: Uint8Array) => faultOf(parse(kind, bytes));

  it('are damaged if they are something else', async () => {
    expect(await faultWith(Buffer.from('hello'))).toBe('damaged');
    expect(await faultWith(Buffer.from('{\\html x}'))).toBe('damaged');
  });

  it('that are truncated yield what is left', async () => {
    const found = await parse(kind, Buffer.from('{\\rtf1 one\\par {\\b two'));
    expect(htmlOf(found)).toBe('<p>one</p>\n<p><b>two</b></p>');
    expect(found.notes).toHaveLength(1);
  });

  it('take time in proportion to their length', async () => {
    const many = 30_000;
    for (const piece of [
      '{',
      '{\\b',
      '{\\footnote x',
      '{\\shptxt ',
      '{\\field{\\*\\fldinst HYPERLINK "',
      '}',
      '\\',
      "\\'",
      '\\u1 ',
      '\\trowd\\intbl x\\cell\\row ',
      '\\cellx1',
      '{\\fonttbl',
      '{\\*\\listtable{\\list{\\listlevel',
      '\\page ',
    ]) {
      expect(['none', 'too large']).toContain(await faultWith(Buffer.from(`{\\rtf1 a ${piece.repeat(many)}`)));
    }
    expect(await faultWith(Buffer.from(`{\\rtf1 ${'{'.repeat(200_000)}`))).toBe('too large');
    const binary = await parse(kind, Buffer.from('{\\rtf1 a{\\pict\\bin2147483647 xxx}'));
    expect(htmlOf(binary)).toBe('<p>a</p>');
  }, 120_000);

  it('never fail in another way', async () => {
    const word = fc.constantFrom(
      '{',
      '}',
      '\\par ',
      '\\cell ',
      '\\row ',
      '\\nestcell ',
      '\\nestrow ',
      '\\trowd ',
      '\\intbl ',
      '\\itap3 ',
      '\\cellx9 ',
      '\\pard ',
      '{\\footnote ',
      '{\\*\\shpinst{\\shptxt ',
      '\\ls1 ',
      '{\\field ',
      '{\\fldrslt ',
      "\\'e9",
      '\\u8364?',
      'text',
      '\\page ',
      '{\\stylesheet ',
      '{\\upr{',
      '\\clvmrg ',
      '\\*',
      '\\bin3 ',
    );
    await fc.assert(
      fc.asyncProperty(fc.array(word, { maxLength: 60 }), async (words) => {
        const found = await parse(kind, Buffer.from(`{\\rtf1 start ${words.join('')}`, 'latin1'));
        expect(found.pages.length).toBeGreaterThan(0);
      }),
      { seed: 17, numRuns: 2_000 },
    );
  });
});

it('never takes text for markup', async () => {
  const nasty = fc.string({
    unit: fc.constantFrom('<', '>', '&', '"', "'", 'b', '/', 'script', '=', 'x'),
    minLength: 1,
  });
  await fc.assert(
    fc.asyncProperty(nasty, async (text) => {
      const tree = parseFragment(
        await html(`${text}\\par {\\b ${text}}\\par\\trowd\\cellx1\\cellx2\\intbl ${text}\\cell x\\cell\\row`),
      );
      for (const { name } of elements(tree)) expect(['p', 'b', 'table', 'tbody', 'tr', 'td']).toContain(name);
      expect(textOf(tree).replace(/\s/g, '')).toBe(`${text}${text}${text}x`);
    }),
    { seed: 19, numRuns: 300 },
  );
});
