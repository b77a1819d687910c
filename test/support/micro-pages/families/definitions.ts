/** Definition lists, and the same made of other elements. */
import { type Shape, shape } from '../micro-page.ts';
import { link, remarks, terms, times } from '../words.ts';

const pairsOf = (count: number, from: number) => ({ names: terms(count, from), texts: remarks(count, 2 * from) });

export const DEFINITIONS: readonly Shape[] = [
  ...[3, 10, 25].map((count) =>
    shape(`${count} terms`, `${count} words of builders`, (names) => {
      const { names: keys, texts } = pairsOf(count, count);
      const html = times(count, (at) => `<dt>${keys[at]}</dt><dd>${texts[at]}</dd>`).join('\n');
      return { html: `<dl${names('glossary')}>${html}</dl>`, keep: [...keys, ...texts] };
    }),
  ),
  shape('in divisions', 'Parts of a roof', (names) => {
    const { names: keys, texts } = pairsOf(8, 4);
    const html = times(8, (at) => `<div${names('term')}><dt>${keys[at]}</dt><dd><p>${texts[at]}</p></dd></div>`).join(
      '\n',
    );
    return { html: `<dl${names('terms')}>${html}</dl>`, keep: [...keys, ...texts] };
  }),
  shape('short values', 'Facts about the lock', (names) => {
    const facts = {
      Length: '48 meters',
      Built: '1911',
      Gates: 'oak and iron',
      Keeper: 'Elif Falk',
      Depth: '3.2 meters',
    };
    const html = Object.entries(facts)
      .map(([key, value]) => `<dt>${key}</dt><dd>${value}</dd>`)
      .join('');
    return { html: `<dl${names('facts')}>${html}</dl>`, keep: Object.entries(facts).flat() };
  }),
  shape('several values for a term', 'Materials and their uses', (names) => {
    const { names: keys, texts } = pairsOf(4, 9);
    const more = remarks(4, 120);
    const html = times(4, (at) => `<dt>${keys[at]}</dt><dd>${texts[at]}</dd><dd>${more[at]}</dd>`).join('\n');
    return { html: `<dl${names('uses')}>${html}</dl>`, keep: [...keys, ...texts, ...more] };
  }),
  shape('linked terms', 'Index of terms', (names) => {
    const { names: keys, texts } = pairsOf(9, 6);
    const html = times(9, (at) => `<dt>${link(keys[at]!, 'terms')}</dt><dd>${texts[at]}</dd>`).join('\n');
    return { html: `<dl${names('index')}>${html}</dl>`, keep: [...keys, ...texts] };
  }),
  shape(
    'German terms',
    'Kleines Wörterbuch',
    (names) => ({
      html: `<dl${names('begriffe')}><dt>Zapfen</dt><dd>Ende eines Balkens, das in ein Loch greift.</dd><dt>Nut</dt><dd>Schmale Rinne in einem Brett.</dd><dt>Sturz</dt><dd>Träger über einer Öffnung.</dd></dl>`,
      keep: [
        'Zapfen',
        'Ende eines Balkens, das in ein Loch greift',
        'Nut',
        'Schmale Rinne in einem Brett',
        'Sturz',
        'Träger über einer Öffnung',
      ],
    }),
    'de',
  ),
];
