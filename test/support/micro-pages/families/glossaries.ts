/** Glossaries and indexes from A to Z. */
import { type Shape, shape } from '../micro-page.ts';
import { link, people, remarks, terms, times } from '../words.ts';

export const GLOSSARIES: readonly Shape[] = [
  shape('headings and text', 'Glossary of the builders', (names) => {
    const words = terms(12);
    const texts = remarks(12, 31);
    const html = words.map((word, at) => `<h3 id="${word}">${word}</h3><p>${texts[at]}</p>`);
    return { html: `<div${names('glossary')}>${html.join('\n')}</div>`, keep: [...words, ...texts] };
  }),
  shape('bold words', 'Words of the trade', () => {
    const words = terms(10, 8);
    const texts = remarks(10, 51);
    return {
      html: words.map((word, at) => `<p><b>${word}</b> – ${texts[at]}</p>`).join('\n'),
      keep: [...words, ...texts],
    };
  }),
  shape('linked words by letter', 'Index of words', (names) => {
    const words = terms(25);
    const html = words.map(
      (word) =>
        `<div${names('letter')}><h2>${word.charAt(0).toUpperCase()}</h2><ul><li>${link(word, 'words')}</li></ul></div>`,
    );
    return { html: html.join('\n'), keep: words };
  }),
  shape('table', 'Abbreviations', (names) => {
    const words = terms(18, 4).map((word) => word.slice(0, 3).toUpperCase() + word.length);
    const texts = people(18, 33).map((person) => `Society of ${person}`);
    const html = words.map((word, at) => `<tr><td>${word}</td><td>${texts[at]}</td></tr>`);
    return { html: `<table${names('abbreviations')}>${html.join('\n')}</table>`, keep: [...words, ...texts] };
  }),
  shape('index of a book', 'Index', (names) => {
    const lines = times(
      30,
      (at) =>
        `${people(1, 150 + at)[0]!
          .split(' ')
          .reverse()
          .join(', ')}, ${11 + 3 * at}, ${14 + 3 * at}`,
    );
    return {
      html: `<div${names('book', 'index')}>${lines.map((line) => `<div>${line}</div>`).join('\n')}</div>`,
      keep: lines,
    };
  }),
];
