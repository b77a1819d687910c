/** Lists of links only, of several lengths, with short and long texts. */
import { type Shape, shape } from '../micro-page.ts';
import { link, outings, people, places, products, remarks, times } from '../words.ts';

type Texts = (count: number, from: number) => readonly string[];

const KINDS: Readonly<Record<string, Texts>> = {
  names: people,
  products,
  titles: (count, from) => outings(count, from).map((title, at) => `${title}, ${at + 2} pictures`),
  sentences: (count, from) => remarks(count, from).map((text) => text.slice(0, -1)),
  places: (count, from) => times(count, (at) => `${places(1, from + at)[0]} ${at + 1}`),
};
const COUNTS = [8, 15, 30, 60, 90];

export const LINK_LISTS: readonly Shape[] = Object.entries(KINDS).flatMap(([kind, texts], row) =>
  COUNTS.map((count, column) =>
    shape(`${count} ${kind}`, `${count} ${kind} from the archive`, (names) => {
      const items = texts(count, 13 * row + column);
      const html = items.map((item) => `<li${names('entry')}>${link(item, kind)}</li>`).join('\n');
      return { html: `<ul${names('entries')}>${html}</ul>`, keep: items };
    }),
  ),
);
