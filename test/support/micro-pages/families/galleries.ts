/** Galleries of pictures with captions. */
import { type Shape, shape } from '../micro-page.ts';
import { outings, places, products, remarks, times } from '../words.ts';

const picture = (name: string, alt: string) =>
  `<img src="/pictures/${name}.jpg" alt="${alt}" width="640" height="480">`;

export const GALLERIES: readonly Shape[] = [
  ...[3, 12, 30].map((count) =>
    shape(`${count} figures`, `${count} pictures of the bay`, (names) => {
      const captions = outings(count, 7 * count);
      const html = captions.map(
        (caption, at) =>
          `<figure${names('gallery', 'item')}>${picture(`bay-${at}`, '')}<figcaption>${caption}</figcaption></figure>`,
      );
      return { html: `<div${names('gallery')}>${html.join('\n')}</div>`, keep: captions };
    }),
  ),
  shape('linked pictures in a list', 'Finds of the year', (names) => {
    const captions = products(10, 5);
    const html = captions.map(
      (caption, at) => `<li><a href="/finds/${at}">${picture(`find-${at}`, '')}<span>${caption}</span></a></li>`,
    );
    return { html: `<ul${names('gallery', 'grid')}>${html.join('\n')}</ul>`, keep: captions };
  }),
  shape('only alternative texts', 'The quarry in pictures', (names) => {
    const texts = times(6, (at) => `View of ${places(1, at)[0]} from above`);
    return {
      html: `<div${names('slides')}>${texts.map((text, at) => picture(`view-${at}`, text)).join('\n')}</div>`,
      keep: texts,
    };
  }),
  shape('pictures between sentences', 'A day at the kiln', () => {
    const texts = remarks(5, 90);
    const captions = times(5, (at) => `Picture ${at + 1}: ${products(1, 50 + at)[0]}`);
    const html = times(
      5,
      (at) =>
        `<p>${texts[at]}</p>\n<figure>${picture(`kiln-${at}`, '')}<figcaption>${captions[at]}</figcaption></figure>`,
    );
    return { html: html.join('\n'), keep: [...texts, ...captions] };
  }),
  shape('caption and credit', 'The oldest boat', (names) => ({
    html: `<figure${names('image')}>${picture('boat', 'A boat with a torn sail')}<figcaption>The boat before its last voyage. <span${names('image', 'credit')}>Photo: Keiko Lindqvist</span></figcaption></figure>\n<p>It has lain on the beach since then.</p>`,
    keep: ['The boat before its last voyage', 'Photo: Keiko Lindqvist', 'It has lain on the beach since then'],
  })),
  shape(
    'Japanese captions',
    '港の写真',
    (names) => {
      const captions = ['朝の桟橋', '網を直す人', '灯台の階段', '市場の裏口'];
      const html = captions.map(
        (caption, at) => `<figure>${picture(`minato-${at}`, '')}<figcaption>${caption}</figcaption></figure>`,
      );
      return { html: `<div${names('gallery')}>${html.join('\n')}</div>`, keep: captions };
    },
    'ja',
  ),
];
