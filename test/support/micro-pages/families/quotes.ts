/** Quotations with their sources. */
import { type Part, type Shape, shape } from '../micro-page.ts';
import { people, remarks, times } from '../words.ts';

const QUOTE = 'A bridge is a promise that two towns make to each other.';
const QUOTED = [
  'Nobody asked the river.',
  'We had one boat and eleven opinions.',
  'The lamp was never meant to be bright.',
];
const source = 'Letters to a Surveyor';

export const QUOTES: readonly Shape[] = [
  shape('footer and cite', 'On bridges', (names) => ({
    html: `<blockquote${names('quote')}><p>${QUOTE}</p><footer>— Tomas Moreau in <cite>${source}</cite></footer></blockquote>`,
    keep: [QUOTE, 'Tomas Moreau in', source],
  })),
  shape('only cite', 'On promises', () => ({
    html: `<blockquote cite="https://library.example/letters"><p>${QUOTE}</p><cite>Tomas Moreau</cite></blockquote>`,
    keep: [QUOTE, 'Tomas Moreau'],
  })),
  shape('figure with caption', 'The surveyor speaks', (names) => ({
    html: `<figure${names('quote')}><blockquote><p>${QUOTE}</p></blockquote><figcaption>Tomas Moreau, <cite>${source}</cite></figcaption></figure>`,
    keep: [QUOTE, 'Tomas Moreau', source],
  })),
  shape('several in a row', 'Voices of the valley', (names): Part => {
    const authors = people(3, 12);
    const html = QUOTED.map(
      (text, at) =>
        `<blockquote${names('testimonial')}><p>${text}</p><footer${names('testimonial', 'author')}><cite>${authors[at]}</cite></footer></blockquote>`,
    );
    return { html: html.join('\n'), keep: [...QUOTED, ...authors] };
  }),
  shape('pull quote', 'Eleven opinions', (names) => ({
    html: `<p>The club met on a Sunday, and the talk went on until dark.</p>\n<blockquote${names('pullquote')}><p>${QUOTED[1]}</p><p${names('pullquote', 'source')}>Olga Kowal, treasurer</p></blockquote>\n<p>The boat was sold a year later.</p>`,
    keep: ['The club met on a Sunday', QUOTED[1]!, 'Olga Kowal, treasurer', 'The boat was sold a year later'],
  })),
  shape('forum quotation', 'Which rope for the mast?', (names) => ({
    html: `<div${names('post')}><blockquote><cite>Lars Ivers wrote:</cite><div>Hemp swells when it is wet.</div></blockquote><p>That is true, but it also dries within a day.</p></div>`,
    keep: ['Lars Ivers wrote', 'Hemp swells when it is wet', 'it also dries within a day'],
  })),
  shape('testimonials in divisions', 'What guests say', (names) => {
    const texts = remarks(8, 70);
    const authors = people(8, 40);
    const html = times(
      8,
      (at) =>
        `<div${names('review')}><p${names('review', 'text')}>“${texts[at]}”</p><span${names('review', 'author')}>${authors[at]}</span></div>`,
    );
    return { html: `<div${names('reviews')}>${html.join('\n')}</div>`, keep: [...texts, ...authors] };
  }),
  shape(
    'French quotation',
    'Paroles de marin',
    () => ({
      html: '<blockquote><p>« Le vent ne demande pas la route. »</p><footer>Jeanne Castell, <cite>Carnets du large</cite></footer></blockquote>',
      keep: ['Le vent ne demande pas la route', 'Jeanne Castell', 'Carnets du large'],
    }),
    'fr',
  ),
];
