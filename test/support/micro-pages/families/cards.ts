/** Cards of products and of pages. */
import { type Shape, shape } from '../micro-page.ts';
import { link, outings, people, products, remarks, slug, times } from '../words.ts';

const price = (at: number) => `$${19 + 7 * at}.50`;
const image = (name: string) => `<img src="/pictures/${slug(name)}.jpg" alt="" width="300" height="200">`;

export const CARDS: readonly Shape[] = [
  ...[4, 24, 60].map((count) =>
    // The price of the shortest list is next to a button, without white space.
    shape(`${count} products`, `${count} things for the house`, (names) => {
      const titles = products(count, count);
      const html = titles.map(
        (title, at) =>
          `<li${names('product')}><a href="/products/${slug(title)}">${image(title)}<h3${names('product', 'title')}>${title}</h3></a><span${names('product', 'price')}>${price(at)}</span>${count === 4 ? '' : '\n'}<button>Add to basket</button></li>`,
      );
      return {
        html: `<ul${names('products')}>${html.join('\n')}</ul>`,
        keep: titles.flatMap((title, at) => [title, price(at)]),
      };
    }),
  ),
  shape('stories with summaries', 'All reports from the coast', (names) => {
    const titles = outings(8, 33);
    const texts = remarks(8, 133);
    const html = titles.map(
      (title, at) =>
        `<article${names('card')}>${image(title)}<h2>${link(title, 'reports')}</h2><p>${texts[at]}</p><a href="/reports/${slug(title)}">Read more</a></article>`,
    );
    return { html: `<div${names('cards')}>${html.join('\n')}</div>`, keep: [...titles, ...texts] };
  }),
  shape('cards that are links', 'Choose a guide', (names) => {
    const titles = outings(6, 203);
    const texts = remarks(6, 183);
    const html = titles.map(
      (title, at) =>
        `<a href="/guides/${slug(title)}"${names('tile')}><div${names('tile', 'title')}>${title}</div><div${names('tile', 'text')}>${texts[at]}</div></a>`,
    );
    return { html: `<div${names('tiles')}>${html.join('\n')}</div>`, keep: [...titles, ...texts] };
  }),
  shape('people with roles', 'Who works here', (names) => {
    const staff = people(9, 130);
    const roles = times(9, (at) => `Keeper of the ${products(1, 100 + at)[0]}`);
    const html = staff.map(
      (person, at) => `<div${names('team', 'member')}>${image(person)}<h3>${person}</h3><p>${roles[at]}</p></div>`,
    );
    return { html: `<div${names('team')}>${html.join('\n')}</div>`, keep: [...staff, ...roles] };
  }),
  shape('features with icons', 'What the hut offers', (names) => {
    const titles = ['Warm floors', 'A quiet library', 'Boots to borrow', 'Soup at noon'];
    const texts = remarks(4, 108);
    const html = titles.map(
      (title, at) =>
        `<div${names('feature')}><svg width="24" height="24"></svg><h3>${title}</h3><p>${texts[at]}</p></div>`,
    );
    return { html: `<div${names('features')}>${html.join('\n')}</div>`, keep: [...titles, ...texts] };
  }),
  shape('results of a search', '12 results for quay', (names) => {
    const titles = outings(12, 83);
    const texts = remarks(12, 93);
    const html = titles.map(
      (title, at) =>
        `<div${names('result')}><h3>${link(title, 'found')}</h3><cite>example.com › found</cite><p>${texts[at]}</p></div>`,
    );
    return { html: `<div${names('results')}>${html.join('\n')}</div>`, keep: [...titles, ...texts] };
  }),
];
