/** Tables of names and values, and the same in other elements. */
import { type Shape, shape } from '../micro-page.ts';
import { people, products, terms, times } from '../words.ts';

const FACTS: readonly (readonly [string, string])[] = [
  ['Height', '31 cm'],
  ['Weight', '2.4 kg'],
  ['Material', 'oiled walnut'],
  ['Origin', 'Oakmoor workshop'],
  ['Warranty', '36 months'],
  ['Order number', 'WL-4471'],
  ['Color', 'dark amber'],
];
const KEEP = FACTS.flat();

export const KEY_VALUES: readonly Shape[] = [
  shape('table with row heads', 'Walnut table lamp: data', (names) => ({
    html: `<table${names('specs')}><tbody>${FACTS.map(([key, value]) => `<tr><th scope="row">${key}</th><td>${value}</td></tr>`).join('\n')}</tbody></table>`,
    keep: KEEP,
  })),
  shape('table without heads', 'Facts and figures', () => ({
    html: `<table>${FACTS.map(([key, value]) => `<tr><td>${key}:</td><td>${value}</td></tr>`).join('\n')}</table>`,
    keep: KEEP,
  })),
  shape('table of 60 rows', 'Inventory of the shed', (names) => {
    const items = products(60, 10);
    const rows = items.map((item, at) => `<tr><td>${item}</td><td>${at + 3} pieces</td></tr>`);
    return {
      html: `<table${names('inventory')}><thead><tr><th>Item</th><th>Stock</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`,
      keep: ['Item', 'Stock', ...items],
    };
  }),
  shape('in divisions', 'Details of the lamp', (names) => ({
    html: `<div${names('specs')}>${FACTS.map(([key, value]) => `<div${names('specs', 'row')}><span${names('specs', 'label')}>${key}</span> <span${names('specs', 'value')}>${value}</span></div>`).join('\n')}</div>`,
    keep: KEEP,
  })),
  shape('in divisions without white space', 'Details of the older lamp', (names) => ({
    html: `<div${names('data')}>${FACTS.map(([key, value]) => `<div${names('data', 'row')}><div${names('data', 'label')}>${key}</div><div${names('data', 'value')}>${value}</div></div>`).join('')}</div>`,
    keep: KEEP,
  })),
  shape('in a list', 'In short', (names) => ({
    html: `<ul${names('facts')}>${FACTS.map(([key, value]) => `<li><strong>${key}:</strong> ${value}</li>`).join('\n')}</ul>`,
    keep: KEEP,
  })),
  shape('settings', 'Configuration of the gauge', (names) => {
    const keys = terms(12).map((term) => `gauge_${term}`);
    const texts = people(12, 60).map((person) => `Set by ${person} at start`);
    const rows = times(12, (at) => `<tr><td><code>${keys[at]}</code></td><td>${texts[at]}</td><td>${at * 5}</td></tr>`);
    return {
      html: `<table${names('options')}><thead><tr><th>Key</th><th>Meaning</th><th>Default</th></tr></thead><tbody>${rows.join('\n')}</tbody></table>`,
      keep: ['Key', 'Meaning', 'Default', ...keys, ...texts],
    };
  }),
  shape('box beside the text', 'Wren Island', (names) => ({
    html: `<table${names('infobox')}><caption>Wren Island</caption><tr><th>Area</th><td>14 square kilometers</td></tr><tr><th>Population</th><td>212 people</td></tr><tr><th>Highest point</th><td>Signal Hill</td></tr></table>\n<p>The island lies an hour from the coast and has one school, one pub and three chapels.</p>`,
    keep: ['14 square kilometers', '212 people', 'Signal Hill', 'one school, one pub and three chapels'],
  })),
];
