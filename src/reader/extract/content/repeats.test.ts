import { describe, expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { findRepeats } from './repeats.ts';

/** The texts that repeat others if all blocks of a page are kept, except those with the class `dropped`. */
function repeats(html: string): string[] {
  const page = survey(find(parseDocument(html), 'body')!, createClassReader());
  const keep = Uint8Array.from(page.blocks, ({ owner }) =>
    page.classTexts[page.classes[owner]!] === 'dropped' ? 0 : 1,
  );
  const found = findRepeats(page, keep);
  return page.blocks.filter((_, at) => found?.[at]).map(({ text }) => text);
}

const CLAY = 'Clay shrinks while it dries.';
const GLAZE = 'Glaze is glass that melts.';
const KILN = 'A kiln is fired for a whole day.';

describe('finds', () => {
  it('the copy of a part for another screen width', () => {
    const part = `<p>${CLAY}</p><p>${GLAZE}</p>`;
    expect(repeats(`<div class="wide">${part}</div><div class="narrow">${part}</div>`)).toEqual([CLAY, GLAZE]);
  });

  it('the quotation of a post, by element and by class', () => {
    const post = (html: string) => `<div class="post">${html}</div>`;
    const answer = '<p>No, it depends on the kiln.</p>';
    const first = post(`<p>${KILN}</p>`);
    expect(repeats(first + post(`<blockquote><p>${KILN}</p></blockquote>${answer}`))).toEqual([KILN]);
    expect(repeats(first + post(`<div class="bbcode_quote"><div>${KILN}</div></div>${answer}`))).toEqual([KILN]);
  });

  it('one long block', () => {
    const long = `${CLAY} `.repeat(5).trim();
    expect(repeats(`<div class="lead">${long}</div><p>${GLAZE}</p><div class="summary">${long}</div>`)).toEqual([long]);
  });
});

describe('does not find', () => {
  const both = `<p>${CLAY}</p><p>${GLAZE}</p>`;

  it('repetitions of text that is not kept', () => {
    const dropped = both.replaceAll('<p>', '<p class="dropped">');
    expect(repeats(`<div class="wide">${dropped}</div><div class="narrow">${both}</div>`)).toEqual([]);
  });

  it('the refrain of a song, or the texts of cards', () => {
    expect(repeats(`<p>${CLAY}</p><p>${KILN}</p><p>${CLAY}</p>`)).toEqual([]);
    expect(repeats(`<div class="card">${both}</div>`.repeat(3))).toEqual([]);
  });

  it('headings and questions that a table of contents lists', () => {
    const list = (texts: string[]) => texts.map((text) => `<li><a href="#x">${text}</a></li>`).join('');
    const sections = `<h2>${CLAY}</h2><p>One.</p><h2>${GLAZE}</h2><p>Two.</p>`;
    expect(repeats(`<ul>${list([CLAY, GLAZE])}</ul><div class="text">${sections}</div>`)).toEqual([]);
    const questions = sections.replaceAll('h2', 'dt').replaceAll('<p>', '<dd>').replaceAll('</p>', '</dd>');
    expect(repeats(`<ul>${list([CLAY, GLAZE])}</ul><dl>${questions}</dl>`)).toEqual([]);
  });

  it('a sentence in a part that says something else', () => {
    const other = `<p>${CLAY}</p><p>${'Another text is here. '.repeat(5)}</p><p>${GLAZE}</p>`;
    expect(repeats(`<div class="first">${both}</div><div class="second">${other}</div>`)).toEqual([]);
    expect(repeats(`<div class="first">${both}</div><div class="second">${CLAY}</div>`)).toEqual([]);
  });

  it('commands and short texts', () => {
    const commands = '<pre>npm run build -- --minify --watch all</pre><pre>npm run test -- --coverage of all</pre>';
    expect(repeats(`<div class="wide">${commands}</div><div class="narrow">${commands}</div>`)).toEqual([]);
    expect(repeats('<div class="a"><p>One two.</p></div><div class="b"><p>One two.</p></div>')).toEqual([]);
  });

  it('long texts that only start alike', () => {
    const start = 'word '.repeat(100);
    expect(repeats(`<div class="a">${start} one two</div><div class="b">${start} three four</div>`)).toEqual([]);
  });
});
