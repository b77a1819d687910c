/** Tables of contents: of a book, of documentation, of the page itself. */
import { type Shape, shape } from '../micro-page.ts';
import { link, outings, products, remarks, times } from '../words.ts';

const CHAPTERS = ['The first survey', 'Rods and chains', 'A winter camp', 'Maps for the crown', 'The disputed border'];

export const CONTENTS: readonly Shape[] = [
  shape('chapters with pages', 'The Surveyor: contents', (names) => {
    const html = CHAPTERS.map(
      (title, at) => `<li${names('toc', 'item')}>${link(title, 'chapters')} <span>${12 + 31 * at}</span></li>`,
    );
    return { html: `<ol${names('contents')}>${html.join('\n')}</ol>`, keep: CHAPTERS };
  }),
  shape('documentation index', 'Manual of the gauge', (names) => {
    const groups = times(5, (at) => ({
      title: `Part ${at + 1}: ${products(1, 60 + at)[0]}`,
      items: outings(5, 130 + 5 * at),
    }));
    const html = groups.map(
      ({ title, items }) =>
        `<li>${link(title, 'manual')}<ul>${items.map((item) => `<li>${link(item, 'manual')}</li>`).join('')}</ul></li>`,
    );
    return {
      html: `<div${names('toctree')}><ul>${html.join('\n')}</ul></div>`,
      keep: groups.flatMap(({ title, items }) => [title, ...items]),
    };
  }),
  shape('chapters as headings with links', 'Read the book online', (names) => {
    const texts = remarks(5, 140);
    const html = CHAPTERS.map(
      (title, at) => `<div${names('chapter')}><h2>${link(title, 'read')}</h2><p>${texts[at]}</p></div>`,
    );
    return { html: html.join('\n'), keep: [...CHAPTERS, ...texts] };
  }),
  shape('of the page itself', 'Sharpening tools', (names) => {
    const titles = ['Stones and oils', 'Angles that last', 'The final polish'];
    const texts = times(3, (at) => remarks(4, 150 + 4 * at).join(' '));
    const entries = titles.map((title, at) => `<li><a href="#part-${at}">${title}</a></li>`).join('');
    const html = titles.map((title, at) => `<h2 id="part-${at}">${title}</h2>\n<p>${texts[at]}</p>`);
    return { html: `<div${names('toc')}><ul>${entries}</ul></div>\n${html.join('\n')}`, keep: [...titles, ...texts] };
  }),
  shape('issue of a journal', 'Journal of Small Bridges, volume 8', (names) => {
    const titles = outings(9, 170);
    const html = titles.map(
      (title, at) =>
        `<div${names('article', 'entry')}><h4>${link(title, 'papers')}</h4><span>pp. ${10 * at + 1}–${10 * at + 9}</span></div>`,
    );
    return { html: html.join('\n'), keep: titles };
  }),
];
