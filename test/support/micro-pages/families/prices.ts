/** Price lists and pricing tables. */
import { type Shape, shape } from '../micro-page.ts';
import { inEach, products, times } from '../words.ts';

const PLANS = ['Rower', 'Skipper', 'Harbor master'];
const PRICES = ['$4 a month', '$11 a month', '$39 a month'];
const OFFERS = [
  ['One boat', 'Weekday mornings', 'Locker for oars'],
  ['Three boats', 'Every day until dusk', 'Drying room'],
  ['Ten boats', 'Keys to the gate', 'A seat on the board'],
];
const KEEP = [...PLANS, ...PRICES, ...OFFERS.flat()];

export const PRICES_OF_PLANS: readonly Shape[] = [
  shape('three plans', 'Membership', (names) => ({
    html: `<div${names('pricing')}>${times(3, (at) => `<div${names('plan')}><h3>${PLANS[at]}</h3><div${names('plan', 'price')}>${PRICES[at]}</div><ul>${inEach('li', OFFERS[at]!)}</ul><a href="/join/${at}"${names('plan', 'button')}>Choose</a></div>`).join('\n')}</div>`,
    keep: KEEP,
  })),
  shape('comparison in a table', 'Compare the plans', (names) => ({
    html: `<table${names('pricing')}><thead><tr><th></th>${inEach('th', PLANS)}</tr></thead><tbody><tr><td>Fee</td>${inEach('td', PRICES)}</tr>${times(
      3,
      (row) =>
        `<tr><td>Benefit ${row + 1}</td>${inEach(
          'td',
          OFFERS.map((offer) => offer[row]!),
        )}</tr>`,
    ).join('\n')}</tbody></table>`,
    keep: KEEP,
  })),
  shape('price list', 'Prices of repairs', (names) => {
    const items = products(20, 70);
    const prices = times(20, (at) => `$${31 + 3 * at}`);
    const html = items.map((item, at) => `<li><span>${item}</span> <span${names('price')}>${prices[at]}</span></li>`);
    return { html: `<ul${names('price', 'list')}>${html.join('\n')}</ul>`, keep: [...items, ...prices] };
  }),
  shape('menu of a restaurant', 'Menu of the week', (names) => {
    const dishes = [
      'Barley soup with leek',
      'Trout in brown butter',
      'Pears and blue cheese',
      'Dark bread, two spreads',
      'Rhubarb with custard',
    ];
    const prices = times(5, (at) => `${6 + 2 * at}.90`);
    const html = dishes.map(
      (dish, at) => `<div${names('dish')}><h4>${dish}</h4><p${names('dish', 'price')}>${prices[at]}</p></div>`,
    );
    return { html: `<section${names('menu', 'card')}>${html.join('\n')}</section>`, keep: [...dishes, ...prices] };
  }),
];
