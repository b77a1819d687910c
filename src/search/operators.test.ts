import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Hit } from './hit.ts';
import { mergeHits, pageKey } from './merge-hits.ts';
import { composeText, matchesOperators, type OperatorName, textFor } from './operators.ts';
import { parseQuery } from './query.ts';

const hit = (url: string, title = 'T'): Hit => ({ title, url, description: '' });

describe('a query with operators', () => {
  it.each([
    [{ site: ['a.com'] }, 'cats site:a.com'],
    [{ site: ['a.com', 'b.org'] }, 'cats site:a.com OR site:b.org'],
    [{ site: ['a.com', 'b.org'], filetype: ['pdf'] }, 'cats (filetype:pdf) AND (site:a.com OR site:b.org)'],
    [
      { site: ['a'], loc: ['de'], intitle: ['big cats'], filetype: ['pdf'], ext: ['doc'] },
      'cats (ext:doc) AND (filetype:pdf) AND (intitle:"big cats") AND (loc:de) AND (site:a)',
    ],
    [{ site: [' ', '"'] }, 'cats'],
    [{}, 'cats'],
  ])('%j is sent as %s', (given, text) => expect(composeText('cats', given)).toBe(text));

  it('keeps its words for a provider without operators', () => {
    const query = parseQuery('big "wild cats" -dogs site:a.com filetype:pdf');
    expect(textFor(query, new Set<OperatorName>(['filetype']))).toBe('big "wild cats" -dogs filetype:pdf');
    expect(textFor(query, new Set<OperatorName>(['filetype', 'site']))).toBe(query.text);
  });

  it.each([
    ['site:a.com', 'https://www.a.com/x', true],
    ['site:a.com', 'https://deep.a.com/x', true],
    ['site:a.com', 'https://nota.com/x', false],
    ['site:a.com/docs', 'https://a.com/docs/1', true],
    ['site:a.com/docs', 'https://a.com/blog/1', false],
    ['site:a.com site:b.org', 'https://b.org/1', true],
    ['-site:a.com', 'https://a.com/1', false],
    ['-site:a.com', 'https://b.com/1', true],
    ['filetype:pdf', 'https://a.com/x.PDF?y=1', true],
    ['filetype:pdf', 'https://a.com/pdf', false],
    ['intitle:cats', 'https://a.com/', false],
    ['inurl:docs', 'https://a.com/Docs/', true],
    ['loc:de', 'https://a.com/', true],
  ])('%s and %s: %s', (text, url, kept) =>
    expect(matchesOperators(hit(url), parseQuery(`x ${text}`), new Set())).toBe(kept),
  );

  it('does not check operators that the provider applies', () => {
    const query = parseQuery('x site:a.com intitle:y');
    expect(matchesOperators(hit('https://b.com'), query, new Set<OperatorName>(['site', 'intitle']))).toBe(true);
  });
});

describe('merged lists', () => {
  it('have a page once, whatever the form of its URL', () => {
    const same = [
      'https://www.a.com/x/?utm_source=1&b=2&a=1#part',
      'http://a.com/x?a=1&b=2&gclid=9',
      'https://a.com/x/index.html?b=2&a=1',
    ];
    expect(new Set(same.map(pageKey)).size).toBe(1);
    expect(pageKey('https://a.com/#/one')).not.toBe(pageKey('https://a.com/#/two'));
    expect(mergeHits([same.map((url) => hit(url))], 'web').map(({ url }) => url)).toEqual([
      'https://www.a.com/x/?b=2&a=1#part',
    ]);
  });

  it('rank hits of several lists first, and fill in missing fields', () => {
    const first = [hit('https://a.com/1', ''), hit('https://a.com/2')];
    const second = [
      hit('https://a.com/3'),
      { ...hit('https://www.a.com/2', 'Two'), date: 'today', description: 'About' },
    ];
    const fused = mergeHits([first, second], 'web');
    expect(fused.map(({ url }) => url)).toEqual(['https://a.com/2', 'https://a.com/1', 'https://a.com/3']);
    expect(fused[0]).toMatchObject({ title: 'T', date: 'today', description: 'About' });
  });

  it('leave out unreadable URLs, and keep several images of a page', () => {
    const list = [
      hit('ftp://a.com'),
      hit('https://'),
      { ...hit('https://a.com'), imageUrl: 'https://a.com/1.png' },
      { ...hit('https://a.com'), imageUrl: 'https://a.com/2.png' },
    ];
    expect(mergeHits([list], 'images')).toHaveLength(2);
    expect(mergeHits([list], 'web')).toHaveLength(1);
  });

  it('neither lose nor repeat a hit', () => {
    const urls = fc.array(
      fc.integer({ min: 0, max: 30 }).map((n) => hit(`https://a.com/${n}`)),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(fc.array(urls, { maxLength: 4 }), (lists) => {
        const fused = mergeHits(lists, 'web').map(({ url }) => url);
        const all = new Set(lists.flat().map(({ url }) => url));
        expect(new Set(fused)).toEqual(all);
        expect(fused).toHaveLength(all.size);
        if (lists.length === 1) expect(fused).toEqual([...all]);
      }),
      { seed: 3 },
    );
  });
});
