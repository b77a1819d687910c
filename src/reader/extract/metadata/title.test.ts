import { describe, expect, test } from 'vitest';
import { createSiteNames } from './site-name.ts';
import { chooseTitle, withoutSiteName } from './title.ts';

const URL_OF_PAGE = 'https://www.clayhouse.example/guides/reduction-firing-explained';
const site = createSiteNames(['Clay House'], URL_OF_PAGE);

describe('removes the name of the site', () => {
  test.each([
    ['Reduction firing | Clay House', 'Reduction firing'],
    ['Reduction firing|Clay House', 'Reduction firing'],
    ['Clay House - Reduction firing', 'Reduction firing'],
    ['Clay House: Reduction firing', 'Reduction firing'],
    ['Reduction firing – clayhouse.example', 'Reduction firing'],
    ['Reduction firing · The Clay House', 'Reduction firing'],
    ['Reduction firing » Clay House', 'Reduction firing'],
    ['Reduction firing :: CLAY HOUSE', 'Reduction firing'],
    ['Reduction firing | Blog | Clay House', 'Reduction firing'],
    ['Reduction firing - Clay House Magazine', 'Reduction firing'],
    ['還元焼成｜Clay House', '還元焼成'],
    ['還元焼成_Clay House', '還元焼成'],
  ])('%s', (title, rest) => expect(withoutSiteName(title, site)).toBe(rest));
});

describe('keeps parts that are not the name of the site', () => {
  test.each([
    'C++ - A history',
    'Spider-Man: No Way Home',
    'Oxidation / reduction',
    'Glaze | Slip | Engobe',
    'Clay House',
    'Clay House | Clay House',
    'House of clay: a visit',
    'Well-being in well-run studios',
    'AC/DC',
    ': ',
    '',
  ])('%s', (title) =>
    expect(withoutSiteName(title, site)).toBe(title === 'Clay House | Clay House' ? title : title.trim()),
  );
});

test.each([
  ['fbhs', 'Fine Brick Handling Services', true],
  ['vcapottery', 'VCA Pottery', true],
  ['clayhouse', 'The Clay House', true],
  ['clayhouse', 'Clay', false],
  ['clayhouse', 'Reduction firing in a clay oven at my house', false],
])('compares the host %s.example with %s', (label, piece, is) => {
  expect(createSiteNames([], `https://${label}.example/`).isName(piece)).toBe(is);
});

describe('chooseTitle', () => {
  test.each([
    ['Glazes: Reduction firing', 'https://clay.example/glazes/page'],
    ['Glazes: Reduction firing', 'https://clay.example/glazes'],
    ['Firing: How to build a kiln', 'https://clay.example/firing.html'],
    ['Kiln news: The new oven', 'https://clay.example/kiln-news-4'],
  ])(
    'returns the heading after a label and a colon, whatever the URL shares with the label: %s at %s',
    (title, url) => {
      const heading = title.slice(title.indexOf(': ') + 2);
      const site = createSiteNames(['Clay House'], url);
      for (const declaredTitles of [[], [title]])
        expect(chooseTitle({ documentTitle: title, headings: [heading], declaredTitles, site, url })).toBe(heading);
    },
  );

  const choose = (documentTitle: string, headings: string[], declaredTitles: string[] = [], url = URL_OF_PAGE) =>
    chooseTitle({ documentTitle, headings, declaredTitles, site: createSiteNames(['Clay House'], url), url });

  test('returns the heading that the head repeats, in its own spelling', () => {
    expect(choose('How to fire in reduction | Clay House', ['How To Fire in Reduction'])).toBe(
      'How To Fire in Reduction',
    );
    expect(choose('How to fire in reduction', ['HOW TO FIRE IN REDUCTION'])).toBe('How to fire in reduction');
    expect(choose('C++ - A history', ['C++ - A history'])).toBe('C++ - A history');
  });

  test('returns the heading most similar to the titles in the head or to the URL', () => {
    expect(choose('6 Great Kilns for 2026', ['6 Great Kilns'])).toBe('6 Great Kilns');
    expect(choose('Kiln tips & tricks', ['Reduction firing, explained'])).toBe('Reduction firing, explained');
  });

  test('returns no slogan, section heading or logo', () => {
    expect(choose('Reduction firing | Clay House', ['Come and throw a pot'])).toBe('Reduction firing');
    expect(choose('News - Clay House', ['News'], ['Reduction firing'])).toBe('Reduction firing');
    expect(choose('Reduction firing | Clay House', ['Clay House'])).toBe('Reduction firing');
    expect(choose('What is slip? - The Potter', ['The Potter'], [], 'https://x.example/ch4.html')).toBe(
      'What is slip?',
    );
  });

  test('prefers a complete title to a truncated one', () => {
    expect(choose('Why kilns crack in winter', [], ['Why kilns crack...'])).toBe('Why kilns crack in winter');
  });

  test('keeps the site name as the title of a front page', () => {
    const home = 'https://www.clayhouse.example/';
    expect(choose('Clay House – pots and kilns', ['Come and throw'], [], home)).toBe('Clay House – pots and kilns');
    expect(choose('Clay House', [], ['Home'], home)).toBe('Clay House');
  });

  test('returns a title if there is any', () => {
    expect(choose('', ['Clay House'])).toBe('Clay House');
    expect(choose('Home', [])).toBe('Home');
    expect(choose('', [], ['Clay House'])).toBe('Clay House');
    expect(choose('', [])).toBe('');
  });

  test('handles a long title of separators in linear time', () => {
    for (const piece of [':', ' -', '| ', '»', ' :: ', '-_—']) {
      const title = piece.repeat(1000 / piece.length);
      expect(choose(title, [title], [title]).length).toBeLessThanOrEqual(1000);
    }
  });
});
