/** Footnotes stay with the text that refers to them. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { keepNotes } from './notes.ts';

const readClass = createClassReader();

/** The texts that are kept if only the first paragraph is chosen. */
function kept(html: string): string[] {
  const surveyed = survey(find(parseDocument(`<body>${html}`), 'body')!, readClass);
  const keep = new Uint8Array(surveyed.blocks.length);
  keep[0] = 1;
  keepNotes(surveyed, keep);
  return surveyed.blocks.filter((_, at) => keep[at]).map(({ text }) => text);
}

const reference = (label: string, href = '#n1') => `<p>Kilns are hot.<sup><a href="${href}">${label}</a></sup></p>`;
const NOTE = '<div id="n1"><a href="#r1">1</a>. Measured in May.</div>';

describe('a note', () => {
  test.each(['1', '[1]', '(a)', '*', '<sup>1</sup>'])('is kept if the text refers to it by %s', (label) => {
    expect(kept(`${reference(label)}<footer>${NOTE}</footer>`)).toHaveLength(2);
  });

  test.each([
    ['the text refers to another place', reference('1', '#n2') + NOTE],
    ['the link has words', reference('see below') + NOTE],
    ['it has no way back', `${reference('1')}<div id="n1">Measured in May.</div>`],
    ['it is a section', `${reference('1')}<div id="n1"><a href="#r1">1</a> ${'Measured in May. '.repeat(90)}</div>`],
    ['the reference is not kept', `<p>Kilns.</p>${reference('1')}${NOTE}`],
  ])('is judged for itself if %s', (_, html) => expect(kept(html)).toHaveLength(1));
});
