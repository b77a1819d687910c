import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseLooseJson } from './json-repair.ts';
import { readLinkedData } from './linked-data.ts';

const URL_OF_PAGE = 'https://clay.example/kiln';
const read = (...values: unknown[]) =>
  readLinkedData(
    values.map((value) => JSON.stringify(value)),
    URL_OF_PAGE,
  );

describe('parseLooseJson', () => {
  test.each([
    ['{"a": 1}', { a: 1 }],
    ['<!-- {"a": 1} -->', { a: 1 }],
    ['//<![CDATA[\n{"a": 1}\n//]]>', { a: 1 }],
    ['/*<![CDATA[*/{"a": 1}/*]]>*/', { a: 1 }],
    ['{"a": 1};', { a: 1 }],
    ['{"a": [1, 2, ], }', { a: [1, 2] }],
    ['{"a": 1, /* why */ "b": "//x/*y*/" // end\n}', { a: 1, b: '//x/*y*/' }],
    ['{"a": "two\nlines\tand , ] }"}', { a: 'two lines and , ] }' }],
    ['{"a": "\\",}", }', { a: '",}' }],
    ['{"a": ', undefined],
    ['/* open', undefined],
    ['', undefined],
  ])('%s', (text, value) => expect(parseLooseJson(text)).toEqual(value));

  test('returns the same value as JSON.parse for valid JSON', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value);
        expect(parseLooseJson(text)).toEqual(JSON.parse(text));
      }),
      { seed: 11 },
    );
  });
});

describe('the object that describes the page', () => {
  const one = { '@type': 'Article', headline: 'One', datePublished: '2024-01-01', author: 'Ann Lee' };
  const two = { '@type': 'Article', headline: 'Two', datePublished: '2024-02-02', author: 'Bo Chen' };

  test('is the only article, wherever it is nested', () => {
    expect(read([{ '@type': 'WebSite', name: 'S' }, one])).toMatchObject({
      headline: 'One',
      siteName: 'S',
      people: ['Ann Lee'],
    });
    expect(read({ '@type': 'WebPage', mainEntity: one })).toMatchObject({ headline: 'One', published: '2024-01-01' });
    expect(read({ '@type': 'WebPage' }, { '@graph': [one] })).toMatchObject({ headline: 'One' });
  });

  test('is the article with the URL of the page, if there are several', () => {
    const mine = { ...two, mainEntityOfPage: { '@id': 'http://www.clay.example/kiln/' } };
    expect(read(one, mine)).toMatchObject({ headline: 'Two', people: ['Bo Chen'] });
    expect(read(one, { ...two, url: 'https://clay.example/other' })).toMatchObject({ people: [] });
  });

  test('is never a list entry, a comment, a review or a mentioned object', () => {
    for (const key of ['itemListElement', 'comment', 'review', 'blogPost', 'hasPart', 'mentions', 'isPartOf']) {
      const { headline, published, people } = read({ '@type': 'CollectionPage', [key]: [one] });
      expect({ headline, published, people }, key).toEqual({ headline: undefined, published: undefined, people: [] });
    }
  });

  test('separates people from organizations, and resolves references in any order', () => {
    expect(
      read({
        '@graph': [
          { '@type': 'Article', author: [{ '@id': '#a' }, { '@type': 'Organization', name: 'Kiln Press' }, 'Cy'] },
          { '@id': '#a', '@type': 'Person', name: 'Ann' },
        ],
      }),
    ).toMatchObject({ people: ['Ann', 'Cy'], organizations: ['Kiln Press'] });
  });

  test('reads a picture given as a URL, an object, a reference or a list', () => {
    const image = (value: unknown) => read({ ...one, image: value }).image;
    expect(image('/a.png')).toBe('/a.png');
    expect(image({ '@type': 'ImageObject', url: '/b.png' })).toBe('/b.png');
    expect(image([{}, { contentUrl: '/c.png' }])).toBe('/c.png');
    expect(
      read([
        { ...one, image: { '@id': '#i' } },
        { '@id': '#i', url: '/d.png' },
      ]).image,
    ).toBe('/d.png');
  });

  test('reads an object that references itself', () => {
    expect(read({ '@id': '#a', '@type': 'Article', author: { '@id': '#a' }, image: { '@id': '#a' } }).people).toEqual(
      [],
    );
  });

  test('returns every type, including those of other objects', () => {
    const { types } = read({
      '@type': ['https://schema.org/NewsArticle', 'schema:Report'],
      comment: { '@type': 'Comment' },
    });
    expect([...types]).toEqual(['newsarticle', 'report', 'comment']);
  });
});
