/**
 * The index in OpenSearch, against a server that implements the documented protocol
 * (test/support/opensearch-server.ts), because no package registry carries OpenSearch.
 */
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { type OpenSearchServer, startOpenSearch } from '../../../../../test/support/opensearch-server.ts';
import { parseQuery } from '../../../query.ts';
import { createEngine } from '../../engine.ts';
import { indexSuite, page, toyEmbedder } from '../../index.suite.ts';
import { localIndexOver } from '../../open.ts';
import { parseOpenSearchUrl } from './client.ts';
import { openOpenSearchIndex } from './opensearch-index.ts';

const server: OpenSearchServer = await startOpenSearch();
let count = 0;
const freshUrl = () => {
  count += 1;
  return server.url(`lectern-${count}`);
};
beforeEach(() => server.behave('normal'));
afterAll(() => server.close());

indexSuite('the local index in OpenSearch', { open: () => openOpenSearchIndex(freshUrl()) });

describe('the index in OpenSearch', () => {
  it('is one for several servers', async () => {
    const url = freshUrl();
    const [one, two] = await Promise.all(
      [url, url].map(async (at) =>
        localIndexOver(createEngine({ store: await openOpenSearchIndex(at), maxBytes: 1e9, embedder: toyEmbedder })),
      ),
    );
    const pages = (from: string) =>
      Array.from({ length: 10 }, (_, at) => page(`https://a.test/${from}/${at}`, `Tea ${from} ${at}.`));
    await Promise.all([
      ...pages('x').map((one_) => one!.add(one_)),
      ...pages('y').map((one_) => two!.add(one_)),
      ...pages('z').flatMap((both) => [one!.add(both), two!.add(both)]),
    ]);
    const found = async (index: typeof one) =>
      (await index!.search(parseQuery('tea', { count: 50 }), { by: ['words'] })).map((hit) => hit.url).sort();
    expect(await found(one)).toHaveLength(30);
    expect(await found(two)).toEqual(await found(one));
    // No two passages have the same number.
    expect(new Set(await found(one)).size).toBe(30);
    await Promise.all([one!.close(), two!.close()]);
  });

  it('replaces what a killed server left of two versions of a page', async () => {
    const url = freshUrl();
    const store = await openOpenSearchIndex(url);
    const index = localIndexOver(createEngine({ store, maxBytes: 1e9 }));
    const long = Array.from({ length: 6 }, (_, at) => `## Part ${at}\n\n${'Old words about coffee. '.repeat(60)}`).join(
      '\n\n',
    );
    await index.add(page('https://a.test/', long));
    expect((await index.stats()).passages).toBeGreaterThan(2);
    await index.add(page('https://a.test/', 'New words about tea.'));
    expect(await index.stats()).toMatchObject({ pages: 1, passages: 1 });
    expect(await index.search(parseQuery('coffee'), { by: ['words'] })).toEqual([]);
    await index.close();
  });

  it('is opened while the cluster is away, and works as soon as it answers', async () => {
    server.behave(503);
    const warnings: string[] = [];
    const store = await openOpenSearchIndex(freshUrl(), {
      warn: (_: unknown, text?: string) => void warnings.push(text!),
    });
    expect(warnings).toEqual(['OpenSearch cannot be reached: each call tries again']);
    const index = localIndexOver(createEngine({ store, maxBytes: 1e9 }));
    await expect(index.add(page('https://a.test/', 'Tea.'))).rejects.toThrow('OpenSearch answered 503');
    await expect(index.search(parseQuery('tea'))).rejects.toThrow('OpenSearch answered 503: asked to fail');
    server.behave('normal');
    expect(await index.add(page('https://a.test/', 'Tea.'))).toBe(true);
    expect(await index.search(parseQuery('tea'))).toHaveLength(1);
    server.behave('hung');
    await expect(index.search(parseQuery('tea'))).rejects.toThrow('did not respond in time');
    server.behave('normal');
    expect(await index.search(parseQuery('tea'))).toHaveLength(1);
    await index.close();
  });

  it('is refused with a wrong password', async () => {
    const url = freshUrl().replace('lectern:', 'guest:');
    await expect(openOpenSearchIndex(url)).rejects.toThrow('OpenSearch answered 401');
  });

  it('has a URL with the name of the index', () => {
    expect(parseOpenSearchUrl('opensearch+https://a:b@host:9200/pages')).toEqual({
      base: 'https://a:b@host:9200/',
      index: 'pages',
    });
    expect(parseOpenSearchUrl('opensearch+http://host:9200').index).toBe('lectern');
    for (const url of [
      'https://host:9200',
      'opensearch+https://',
      'opensearch+https://host/Upper',
      'opensearch+https://h/a/b',
    ])
      expect(() => parseOpenSearchUrl(url), url).toThrow();
  });
});
