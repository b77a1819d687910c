/** Lists of contributors, and what an article says about its author. */
import { type Shape, shape } from '../micro-page.ts';
import { link, outings, people, remarks } from '../words.ts';

export const BYLINES: readonly Shape[] = [
  shape('articles with authors', 'All articles of the year', (names) => {
    const titles = outings(10, 13);
    const authors = people(10, 13);
    const html = titles.map(
      (title, at) =>
        `<div${names('entry')}><h2>${link(title, 'articles')}</h2><p${names('entry', 'byline')}>By <a href="/people/${at}">${authors[at]}</a></p></div>`,
    );
    return { html: html.join('\n'), keep: [...titles, ...authors] };
  }),
  shape('contributors in a sentence', 'Thanks', (names) => {
    const names15 = people(15, 77);
    return {
      html: `<p${names('thanks')}>${names15.map((name) => link(name, 'people')).join(', ')}</p>`,
      keep: names15,
    };
  }),
  shape('papers with authors', 'Proceedings of the workshop', (names) => {
    const titles = outings(8, 73);
    const authors = people(16, 20);
    const html = titles.map(
      (title, at) => `<li${names('paper')}><i>${title}</i><br>${authors[2 * at]}, ${authors[2 * at + 1]}</li>`,
    );
    return { html: `<ol${names('papers')}>${html.join('\n')}</ol>`, keep: [...titles, ...authors] };
  }),
  shape('lines about the authors', 'About the authors', (names) => {
    const authors = people(5, 99);
    const texts = remarks(5, 199);
    const html = authors.map((author, at) => `<div${names('bio')}><h3>${author}</h3><p>${texts[at]}</p></div>`);
    return { html: html.join('\n'), keep: [...authors, ...texts] };
  }),
];
