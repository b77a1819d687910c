/** Footnotes and references. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, people, remarks, times } from '../words.ts';

const notesOf = (count: number, from: number) =>
  times(count, (at) => `${people(1, from + at)[0]}, Notes on water, volume ${at + 2}.`);

export const FOOTNOTES: readonly Shape[] = [
  ...[2, 14].map((count) =>
    shape(`section with ${count} notes`, `A history in ${count} notes`, (names) => {
      const texts = remarks(count, 3 * count);
      const notes = notesOf(count, 5 * count);
      const body = texts.map((text, at) => `<p>${text}<sup><a href="#fn${at}" id="ref${at}">${at + 1}</a></sup></p>`);
      const list = notes.map((note, at) => `<li id="fn${at}"><p>${note} <a href="#ref${at}">↩</a></p></li>`);
      return {
        html: `${body.join('\n')}\n<section${names('footnotes')} role="doc-endnotes"><hr><ol>${list.join('\n')}</ol></section>`,
        keep: [...texts, ...notes],
      };
    }),
  ),
  shape('references of an encyclopedia', 'Heron Lake', () => {
    const texts = remarks(4, 27);
    const notes = notesOf(6, 70);
    return {
      html: `${inEach('p', texts)}\n<h2>References</h2>\n<div class="reflist"><ol class="references">${notes.map((note) => `<li><span class="mw-cite-backlink"><b><a href="#c">^</a></b></span> <span class="reference-text">${note}</span></li>`).join('')}</ol></div>`,
      keep: [...texts, ...notes],
    };
  }),
  shape('bibliography with links', 'Further reading on kilns', (names) => {
    const notes = notesOf(11, 100);
    const html = notes.map(
      (note, at) => `<li>${note} <a href="https://doi.example/10.5/${at}">doi 10.5/${at}</a></li>`,
    );
    return {
      html: `<h2>Bibliography</h2>\n<ul${names('references')}>${html.join('\n')}</ul>`,
      keep: ['Bibliography', ...notes],
    };
  }),
  shape('small print under a line', 'The price of salt', (names) => ({
    html: `<p>Salt cost two days of work<a href="#n1">*</a> in most years.</p>\n<hr>\n<p${names('note')} id="n1"><small>* Wages of a mason, from the accounts of the guild.</small></p>`,
    keep: ['Salt cost two days of work', 'Wages of a mason, from the accounts of the guild'],
  })),
];
