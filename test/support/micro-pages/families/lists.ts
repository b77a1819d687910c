/** Lists of items and of links, from 2 to 200 items. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, link, outings, people, places, products, remarks, times } from '../words.ts';

const list = (items: readonly string[], attributes = '', tag = 'ul') =>
  `<${tag}${attributes}>\n${inEach('li', items)}\n</${tag}>`;

const linkList = (count: number, folder: string) =>
  shape(`${count} links`, `All outings, part ${count}`, (names) => {
    const items = outings(count, count);
    return {
      html: list(
        items.map((item) => link(item, folder)),
        names('list'),
      ),
      keep: items,
    };
  });

const GERMAN = [
  'Brot vom Vortag',
  'Ein Glas Honig',
  'Zwei Bund Möhren',
  'Frische Hefe',
  'Grobes Salz',
  'Alte Zeitungen',
];
const FRENCH = [
  'Un marteau léger',
  'Des clous fins',
  'Une planche de chêne',
  'Du papier de verre',
  'De la colle à bois',
];
const JAPANESE = ['雨具と替えの靴下', '地図と方位磁石', '水筒', '軽い昼食', '懐中電灯', '救急箱'];
const ARABIC = ['خبز طازج', 'زيت زيتون', 'طماطم مجففة', 'جبن أبيض', 'نعناع بري'];

export const LISTS: readonly Shape[] = [
  ...[2, 5, 12, 40, 100, 200].map((count) => linkList(count, 'outings')),
  shape('30 links of people', 'Members of the society', (names) => {
    const items = people(30);
    return {
      html: list(
        items.map((item) => link(item, 'people')),
        names('directory', 'list'),
      ),
      keep: items,
    };
  }),
  shape('two links after see', 'How the lock works', () => {
    const items = ['Manual of the lock keeper', 'Drawings from 1911'];
    const [first, second] = items.map((item) => `<li>${link(item, 'library')}</li>`);
    return {
      html: `<p>The gates were rebuilt twice. See:</p>\n<ul>${first}${second}</ul>\n<p>Both are in the reading room.</p>`,
      keep: ['The gates were rebuilt twice. See', ...items, 'Both are in the reading room'],
    };
  }),
  shape('sentences', 'What we found out', (names) => {
    const items = remarks(9, 3);
    return { html: list(items, names('content', 'list')), keep: items };
  }),
  shape('single words', 'Stops of the tram', (names) => {
    const items = places(15);
    return { html: list(items, names('stops'), 'ol'), keep: items };
  }),
  shape('nested', 'Contents of the drawers', (names) => {
    const groups = times(4, (at) => ({ title: `Drawer of ${people(1, at)[0]}`, items: products(4, 4 * at) }));
    const html = groups.map(({ title, items }) => `<li>${title}${list(items)}</li>`).join('\n');
    return { html: `<ul${names('tree')}>${html}</ul>`, keep: groups.flatMap(({ title, items }) => [title, ...items]) };
  }),
  shape('links with remarks', 'Places worth the detour', (names) => {
    const titles = outings(14, 20);
    const notes = remarks(14, 20);
    const items = titles.map((title, at) => `${link(title, 'places')} – ${notes[at]}`);
    return { html: list(items, names('links')), keep: [...titles, ...notes] };
  }),
  shape('links in divisions', 'Index of the archive', (names) => {
    const items = outings(24, 60);
    const html = items.map((item) => `<div${names('index', 'row')}>${link(item, 'archive')}</div>`).join('\n');
    return { html: `<div${names('index')}>${html}</div>`, keep: items };
  }),
  shape('three columns', 'Suppliers by region', (names) => {
    const items = people(24, 90);
    const columns = times(3, (at) => list(items.slice(8 * at, 8 * at + 8).map((item) => link(item, 'suppliers'))));
    return { html: `<div${names('columns')}>${inEach('div', columns, names('columns', 'item'))}</div>`, keep: items };
  }),
  shape('groups under headings', 'Clubs from A to D', (names) => {
    const groups = times(4, (at) => ({ title: `Clubs of letter ${'ABCD'[at]}`, items: outings(6, 100 + 6 * at) }));
    const html = groups
      .map(
        ({ title, items }) =>
          `<section${names('group')}><h2>${title}</h2>${list(items.map((item) => link(item)))}</section>`,
      )
      .join('\n');
    return { html, keep: groups.flatMap(({ title, items }) => [title, ...items]) };
  }),
  shape(
    'German items',
    'Was in den Korb gehört',
    (names) => ({ html: list(GERMAN, names('liste')), keep: GERMAN }),
    'de',
  ),
  shape(
    'French links',
    'Le matériel du menuisier',
    (names) => ({
      html: list(
        FRENCH.map((item) => link(item, 'outils')),
        names('liste'),
      ),
      keep: FRENCH,
    }),
    'fr',
  ),
  shape('Japanese items', '山歩きの持ち物', (names) => ({ html: list(JAPANESE, names('list')), keep: JAPANESE }), 'ja'),
  shape(
    'Arabic links',
    'قائمة المشتريات',
    (names) => ({
      html: list(
        ARABIC.map((item) => link(item, 'market')),
        names('list'),
      ),
      keep: ARABIC,
    }),
    'ar',
  ),
];
