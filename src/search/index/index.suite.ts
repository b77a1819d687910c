/** The tests that the local index must pass with every store. */
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseQuery, type SearchQuery } from '../query.ts';
import { createEngine } from './engine.ts';
import type { IndexablePage, IndexEmbedder, LocalIndex } from './local-index.ts';
import { localIndexOver } from './open.ts';
import { filtersOf } from './query/filters.ts';
import type { IndexStore } from './store/index-store.ts';
import { querySlots } from './text/terms.ts';

export interface SuiteStore {
  /** An empty store. */
  open(): Promise<IndexStore>;
}

/** A fake embedding of three numbers: how much a text is about animals, food and machines. */
const KINDS = [/cat|dog|kitten|puppy|animal|pet/gi, /bread|soup|food|meal|bake|eat/gi, /engine|motor|gear|machine/gi];
export const toyEmbedder: IndexEmbedder = {
  id: 'toy',
  dimensions: 32,
  spread: { mean: 0.3, deviation: 0.13 },
  weight: 1,
  embed: async (texts) =>
    texts.map((text) => {
      const vector = new Float32Array(32);
      for (const [at, kind] of KINDS.entries()) vector[at] = text.match(kind)?.length ?? 0;
      return vector;
    }),
};

export const page = (url: string, content: string, more: Partial<IndexablePage> = {}): IndexablePage => ({
  url,
  title: '',
  content,
  ...more,
});

export function indexSuite(name: string, { open }: SuiteStore): void {
  describe(name, () => {
    let index: LocalIndex;
    let store: IndexStore;
    let now: number;
    beforeEach(async () => {
      now = 1_000_000;
      store = await open();
      index = localIndexOver(
        createEngine({ store, embedder: toyEmbedder, maxBytes: 1_000_000_000, clock: () => (now += 1_000) }),
      );
    });
    afterEach(() => index.close());

    const add = (...pages: IndexablePage[]) => Promise.all(pages.map((one) => index.add(one)));
    const urls = async (text: string, more: Partial<SearchQuery> = {}, by?: readonly ('words' | 'meaning')[]) =>
      (await index.search(parseQuery(text, more), { ...(by && { by }) })).map(({ url }) => url);
    const words = (text: string, more: Partial<SearchQuery> = {}) => urls(text, more, ['words']);

    it('finds an added page at once, best match first', async () => {
      await add(
        page('https://a.test/1', 'The harbour is far away. Ships come and go, and nobody counts them.'),
        page('https://a.test/2', 'The harbour of the harbour town has a harbour master.', { title: 'Harbour' }),
        page('https://a.test/3', 'Nothing of that kind is on this page.'),
      );
      expect(await words('harbour')).toEqual(['https://a.test/2', 'https://a.test/1']);
      expect(await words('lighthouse')).toEqual([]);
      expect(await words('')).toEqual([]);
      expect(await words('!!! ???')).toEqual([]);
    });

    it('finds the best passages of an owner, however many better ones belong to others', async () => {
      const owners = ['account:1', 'public'];
      const slots = querySlots('harbour', ['en'], 1);
      const best = async (limit: number) => {
        const { matches } = await store.byWords(slots, filtersOf(parseQuery('harbour'), ['en'], owners), limit);
        const rows = await store.rows(matches.map(({ id }) => id));
        return matches.map(({ id }) => rows.find((row) => row.id === id)!.url.slice(-1));
      };
      const text = (words: number) => `${'Harbour. '.repeat(words)}The ships lie there all day.`;
      await add(page('https://a.test/1', text(2), { owner: 'account:1' }), page('https://a.test/2', text(1)));
      expect(await best(1)).toEqual(['1']);
      expect(await best(2)).toEqual(['1', '2']);
      for (let at = 0; at < 9; at++)
        await add(page(`https://b.test/${at}`, `${text(5 + at)} ${at}`, { owner: 'account:2' }));
      expect(await best(1)).toEqual(['1']);
      expect(await best(2)).toEqual(['1', '2']);
      expect(await best(20)).toEqual(['1', '2']);
    });

    it('finds other forms of words, by the language of the page', async () => {
      await add(
        page(
          'https://en.test/',
          'They were running with the horses and they have been running for hours on the beach.',
        ),
        page(
          'https://de.test/',
          'Die Häuser stehen in der Straße und die Bäume sind nicht zu sehen, aber sie sind da.',
        ),
        page(
          'https://fr.test/',
          'Les chevaux étaient dans les prés et ils ne sont pas revenus avec nous sur la côte brûlée.',
        ),
        page('https://ru.test/', 'Все дети читали книги, но не все они были интересными для них, как это было прежде.'),
      );
      expect(await words('run horse')).toEqual(['https://en.test/']);
      expect(await words('Haus')).toEqual(['https://de.test/']);
      expect(await words('strasse')).toEqual(['https://de.test/']);
      expect(await words('cote brulee')).toEqual(['https://fr.test/']);
      expect(await words('книга')).toEqual(['https://ru.test/']);
    });

    it('finds words of scripts without spaces', async () => {
      await add(
        page('https://ja.test/', '東京都は日本の首都です。人口は約千四百万人です。'),
        page('https://zh.test/', '北京是中国的首都，历史悠久。'),
        page('https://th.test/', 'กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย'),
        page('https://ko.test/', '서울은 대한민국의 수도이다.'),
      );
      expect(await words('東京')).toEqual(['https://ja.test/']);
      expect(await words('中国')).toEqual(['https://zh.test/']);
      expect(await words('ประเทศไทย')).toEqual(['https://th.test/']);
      expect(await words('서울')).toEqual(['https://ko.test/']);
      expect(await words('史')).toEqual(['https://zh.test/']);
      expect((await words('首都')).toSorted()).toEqual(['https://ja.test/', 'https://zh.test/']);
    });

    it('finds pages by meaning that have none of the words', async () => {
      await add(
        page('https://a.test/pets', 'A puppy needs a walk in the morning.'),
        page('https://a.test/food', 'We bake on Sundays.'),
        page('https://a.test/gears', 'The motor has a new gear.'),
      );
      await index.flush();
      expect(await urls('kitten', {}, ['meaning'])).toEqual(['https://a.test/pets']);
      expect(await urls('kitten', {}, ['words'])).toEqual([]);
      expect(await urls('a meal for a motor')).toContain('https://a.test/food');
      expect(await urls('kitten site:b.test', {}, ['meaning'])).toEqual([]);
      expect(await urls('kitten site:a.test', {}, ['meaning'])).toEqual(['https://a.test/pets']);
      expect((await index.stats()).vectors).toBe(3);
    });

    it('applies every operator', async () => {
      const old = Date.UTC(2020, 0, 1);
      await add(
        page('https://a.com/docs/x', 'Common text about rivers and lakes.', { title: 'Rivers', publishedAt: old }),
        page('https://sub.a.com/y.pdf', 'Common text about rivers and mountains.', { title: 'Mountains' }),
        page('https://b.de/z', 'Common text, rivers: everything flows.', {
          title: 'Flow',
          mediaType: 'application/pdf',
        }),
        page('https://nota.com/', 'Common words: the rivers text is not in that order.', { title: 'Other' }),
      );
      const all = ['https://a.com/docs/x', 'https://b.de/z', 'https://nota.com/', 'https://sub.a.com/y.pdf'];
      const sorted = async (text: string, more: Partial<SearchQuery> = {}) => (await words(text, more)).toSorted();
      expect(await sorted('rivers')).toEqual(all);
      expect(await sorted('rivers site:a.com')).toEqual(['https://a.com/docs/x', 'https://sub.a.com/y.pdf']);
      expect(await sorted('rivers site:a.com/docs')).toEqual(['https://a.com/docs/x']);
      expect(await sorted('rivers site:a.com OR site:b.de')).toEqual(all.filter((url) => url !== 'https://nota.com/'));
      expect(await sorted('rivers -site:a.com')).toEqual(['https://b.de/z', 'https://nota.com/']);
      expect(await sorted('rivers filetype:pdf')).toEqual(['https://b.de/z', 'https://sub.a.com/y.pdf']);
      expect(await sorted('rivers (ext:pdf) AND (site:b.de)')).toEqual(['https://b.de/z']);
      expect(await sorted('rivers intitle:mountain')).toEqual(['https://sub.a.com/y.pdf']);
      expect(await sorted('rivers inurl:DOCS')).toEqual(['https://a.com/docs/x']);
      expect(await sorted('rivers loc:us')).toEqual(all.filter((url) => url !== 'https://b.de/z'));
      expect(await sorted('"rivers and lakes"')).toEqual(['https://a.com/docs/x']);
      expect(await sorted('"rivers text"')).toEqual(['https://nota.com/']);
      expect(await sorted('"river text"')).toEqual([]);
      expect(await sorted('rivers -mountains -flows')).toEqual(['https://a.com/docs/x', 'https://nota.com/']);
      expect(await sorted('rivers -"rivers and lakes"')).toEqual(all.slice(1));
      expect(await sorted('rivers', { since: old, until: old + 1 })).toEqual(['https://a.com/docs/x']);
      expect(await sorted('rivers', { until: old })).toEqual([]);
      expect(await sorted('site:a.com')).toEqual(['https://a.com/docs/x', 'https://sub.a.com/y.pdf']);
      expect(await sorted('rivers', { language: 'en' })).toEqual(all);
    });

    it('leaves out pages of other languages than the requested one', async () => {
      await add(
        page('https://en.test/', 'The radio was on and nobody was in the house, so it played for the cat.'),
        page('https://de.test/', 'Das Radio war an und niemand war in dem Haus, so spielte es für die Katze.'),
      );
      expect(await words('radio', { language: 'de' })).toEqual(['https://de.test/']);
      expect(await words('radio', { language: 'en-gb' })).toEqual(['https://en.test/']);
    });

    it('is not affected by text that looks like database syntax', async () => {
      await add(page('https://a.test/', 'It’s a "quoted" word, and 100% safe; drop table pages.'));
      for (const text of [
        `' OR 1=1 --`,
        '"',
        '*',
        'a:b',
        'NEAR(a b)',
        '((((',
        '-',
        '& | !',
        'site:',
        'site:%',
        'inurl:_',
        '\u0000',
      ])
        await expect(words(text)).resolves.toBeInstanceOf(Array);
      expect(await words('quoted safe')).toEqual(['https://a.test/']);
      expect(await words('word site:%')).toEqual([]);
      expect(await words('word inurl:_')).toEqual([]);
      expect(await words('word '.repeat(20_000))).toEqual(['https://a.test/']);
    });

    it('replaces a page that is read again', async () => {
      await add(page('https://a.test/', 'First there were apples.'));
      expect(await index.add(page('https://a.test/#part', 'First there were apples.'))).toBe(false);
      expect(await index.add(page('https://a.test/?utm_source=x', 'Then there were pears.'))).toBe(true);
      expect(await words('apples')).toEqual([]);
      expect(await words('pears')).toEqual(['https://a.test/']);
      expect(await index.stats()).toMatchObject({ pages: 1, passages: 1 });
    });

    it('stores a page once, by its canonical URL and by its content', async () => {
      const content = 'The same words are to be read at each of these addresses.';
      await add(page('https://a.test/1', content, { canonicalUrl: 'https://a.test/' }));
      await add(page('https://a.test/2', `${content} Nearly.`, { canonicalUrl: 'https://a.test/' }));
      await add(page('https://b.test/', `${content} Nearly.`));
      expect(await words('addresses')).toEqual(['https://a.test/']);
    });

    it('does not let a page replace one of another host', async () => {
      await add(page('https://bank.test/', 'The rates of the bank.'));
      await add(page('https://evil.test/', 'Better rates.', { canonicalUrl: 'https://bank.test/' }));
      await add(page('https://www.bank.test/rates', 'All rates.', { canonicalUrl: 'https://bank.test/rates' }));
      expect((await words('rates')).toSorted()).toEqual([
        'https://bank.test/',
        'https://bank.test/rates',
        'https://evil.test/',
      ]);
    });

    it('removes, prunes the oldest and clears', async () => {
      const text = 'A page of some words, all about the number ';
      for (let at = 0; at < 10; at++)
        await index.add(page(`https://a.test/${at}`, `${text}${at}. ${'More. '.repeat(50)}`));
      await index.flush();
      expect(await index.urlsAmong(['https://a.test/4', 'https://a.test/none'])).toEqual(['https://a.test/4']);
      expect(await index.remove('https://a.test/4')).toBe(true);
      expect(await index.urlsAmong(['https://a.test/4'])).toEqual([]);
      expect(await index.remove('https://a.test/4')).toBe(false);
      expect(await words('number 4', { count: 20 })).not.toContain('https://a.test/4');
      const { bytes, pages } = await index.stats();
      expect(pages).toBe(9);
      expect(await index.prune(bytes / 2)).toBeGreaterThanOrEqual(4);
      const kept = await words('number', { count: 20 });
      expect(kept).toContain('https://a.test/9');
      expect(kept).not.toContain('https://a.test/0');
      expect((await index.stats()).bytes).toBeLessThanOrEqual(bytes / 2);
      await index.clear();
      expect(await index.stats()).toMatchObject({ pages: 0, passages: 0, vectors: 0, bytes: 0 });
      expect(await words('number')).toEqual([]);
      await add(page('https://a.test/pets', 'A puppy is back.'));
      await index.flush();
      expect(await urls('kitten', {}, ['meaning'])).toEqual(['https://a.test/pets']);
    });

    it('returns passages with headings and offsets, and a snippet with the words', async () => {
      const filler = 'Sentences that tell nothing at all. '.repeat(40);
      const content = `# Guide\n\n${filler}\n\n## Install\n\n${filler}\n\n## Remove\n\n${filler} The needle is *here*, in the [middle](https://x.test/a_(b)). ${filler}`;
      await add(page('https://a.test/', content, { title: 'Manual', siteName: 'Site', publishedAt: 0 }));
      const [hit] = await index.search(parseQuery('needle'));
      expect(hit).toMatchObject({ title: 'Manual', source: 'Site', date: '1970-01-01T00:00:00.000Z' });
      expect(hit!.description).toContain('The needle is here , in the middle'.replace(' ,', ' ,'));
      const [passage] = hit!.passages!;
      expect(passage!.heading).toBe('Guide > Remove');
      expect(content.slice(passage!.start, passage!.end)).toBe(passage!.text);
      expect(passage!.text).toContain('needle');
    });

    it('pages through the results without repeating one', async () => {
      await add(
        ...Array.from({ length: 25 }, (_, at) => page(`https://a.test/${at}`, `Lemon number ${at} is a lemon.`)),
      );
      const seen = new Set<string>();
      for (let at = 1; at <= 4; at++) for (const url of await words('lemon', { count: 7, page: at })) seen.add(url);
      expect(seen.size).toBe(25);
      expect(await words('lemon', { count: 7, page: 5 })).toEqual([]);
    });

    it('says when no page has a word of the query, and gives such pages a low score', async () => {
      await add(
        page('https://a.test/pets', 'A puppy needs a walk in the morning.'),
        page('https://a.test/food', 'We bake on Sundays.'),
      );
      await index.flush();
      const [meant] = await index.search(parseQuery('kitten'));
      expect(meant).toMatchObject({ url: 'https://a.test/pets', byMeaningOnly: true });
      const [named] = await index.search(parseQuery('puppy'));
      expect(named).not.toHaveProperty('byMeaningOnly');
      expect(meant!.score).toBeLessThan(named!.score!);
    });

    it('ranks by words and meaning in the same order on every page of results, and every time', async () => {
      const texts = ['A cat and a lemon.', 'A lemon engine.', 'A puppy with a lemon, lemon.', 'Lemon soup with bread.'];
      await add(
        ...Array.from({ length: 60 }, (_, at) => page(`https://a.test/${at}`, `${texts[at % 4]} Number ${at}.`)),
      );
      await index.flush();
      const whole = await urls('lemon kitten', { count: 20 });
      const paged: string[] = [];
      for (let at = 1; at <= 4; at++) paged.push(...(await urls('lemon kitten', { count: 5, page: at })));
      expect(paged).toEqual(whole);
      expect(await urls('lemon kitten', { count: 20 })).toEqual(whole);
      expect(whole.slice(0, 15).every((url) => [0, 2].includes(Number(url.split('/').at(-1)) % 4))).toBe(true);
    });

    it('uses the order of a reranker, and its own if the reranker fails', async () => {
      await add(
        page('https://a.test/1', 'Tea, tea, tea and tea.'),
        page('https://a.test/2', 'Tea in the afternoon, as always in this house.'),
      );
      const search = async (rerank: () => Promise<number[]>) =>
        (await index.search(parseQuery('tea'), { rerank, by: ['words'] })).map(({ url }) => url);
      const own = await words('tea');
      expect(await search(async () => [0, 1])).toEqual(own.toReversed());
      expect(await search(async () => [1, 0])).toEqual(own);
      expect(await search(() => Promise.reject(new Error('away')))).toEqual(own);
    });

    it('stops when the signal is aborted', async () => {
      const reason = new Error('gone');
      await expect(index.search(parseQuery('x'), { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
    });

    it('skips pages without words, and has no images', async () => {
      expect(await index.add(page('https://a.test/', ''))).toBe(false);
      expect(await index.add(page('https://a.test/', '![](https://a.test/x.png)\n\n---'))).toBe(false);
      expect(await index.add(page('blob:abc', 'Words.'))).toBe(false);
      await add(page('https://a.test/', 'Words.'));
      expect(await urls('words', { kind: 'images' })).toEqual([]);
    });

    describe('pages of owners', () => {
      const KITTEN = 'A kitten plays with a ball of wool all day.';
      const foundBy = async (owners: readonly string[], text = 'kitten', more: Partial<SearchQuery> = {}) => {
        const lists = await Promise.all(
          ([['words'], ['meaning'], ['words', 'meaning']] as const).map(async (by) =>
            (await index.search(parseQuery(text, more), { by, owners })).map(({ url }) => url).sort(),
          ),
        );
        // Every retriever must find the same pages.
        expect(lists[1]).toEqual(lists[0]);
        expect(lists[2]).toEqual(lists[0]);
        return lists[0];
      };

      it('are found for these owners only, by every retriever', async () => {
        await add(
          page('https://a.test/open', `${KITTEN} Open.`),
          page('https://a.test/mine', `${KITTEN} Mine.`, { owner: 'account:me' }),
          page('https://a.test/yours', `${KITTEN} Yours.`, { owner: 'account:you', title: 'Cat' }),
        );
        await index.flush();
        expect(await foundBy(['public', 'account:me'])).toEqual(['https://a.test/mine', 'https://a.test/open']);
        expect(await foundBy(['public', 'account:you'])).toEqual(['https://a.test/open', 'https://a.test/yours']);
        expect(await foundBy(['public'])).toEqual(['https://a.test/open']);
        expect(await foundBy(['nobody'])).toEqual([]);
        for (const operator of ['site:a.test', '"plays with a ball"', '-engine', 'inurl:a.test']) {
          expect([operator, await foundBy(['account:me'], `kitten ${operator}`)]).toEqual([
            operator,
            ['https://a.test/mine'],
          ]);
        }
        const named = async (owners: readonly string[], text: string) =>
          (await index.search(parseQuery(text), { owners })).map(({ url }) => url);
        expect(await named(['public'], 'site:a.test')).toEqual(['https://a.test/open']);
        expect(await named(['public'], 'intitle:cat')).toEqual([]);
        expect(await named(['account:you'], 'intitle:cat')).toEqual(['https://a.test/yours']);
        expect(await words('kitten')).toHaveLength(3);
      });

      it('do not replace each other, at one URL or with the same words', async () => {
        const url = 'https://a.test/';
        expect(await add(page(url, KITTEN, { owner: 'account:me' }))).toEqual([true]);
        expect(await add(page(url, KITTEN))).toEqual([true]);
        expect(await add(page('https://a.test/2', KITTEN, { owner: 'account:you' }))).toEqual([true]);
        expect(await add(page(url, KITTEN), page(url, KITTEN, { owner: 'account:me' }))).toEqual([false, false]);
        expect(await add(page(url, `${KITTEN} Again.`, { owner: 'account:me' }))).toEqual([true]);
        await index.flush();
        expect((await index.stats()).pages).toBe(3);
        expect(await foundBy(['public'])).toEqual([url]);
        expect(await foundBy(['account:you'])).toEqual(['https://a.test/2']);
        expect(await index.remove(url)).toBe(true);
        expect(await foundBy(['public', 'account:me', 'account:you'])).toEqual(['https://a.test/2']);
      });

      it('replace a page of owner `all`, by any later reader', async () => {
        await add(
          page('https://a.test/1', `${KITTEN} One.`, { owner: 'all' }),
          page('https://a.test/2', `${KITTEN} Two.`, { owner: 'all' }),
          page('https://a.test/3', `${KITTEN} Three.`, { owner: 'all' }),
        );
        expect((await index.stats()).onlyAll).toBe(3);
        expect(await add(page('https://a.test/1', `${KITTEN} One.`))).toEqual([true]);
        expect(await add(page('https://a.test/2', `${KITTEN} Two.`, { owner: 'account:me' }))).toEqual([true]);
        await index.flush();
        expect(await index.stats()).toMatchObject({ pages: 3, onlyAll: 1 });
        expect(await foundBy(['public', 'operator'])).toEqual(['https://a.test/1']);
        expect(await foundBy(['all'])).toEqual(['https://a.test/3']);
      });
    });

    it('embeds missing passages when the model is available again', async () => {
      let away = true;
      const moody = createEngine({
        store: await open(),
        maxBytes: 1e9,
        embedder: {
          ...toyEmbedder,
          embed: async (texts, task) => {
            if (away) throw new Error('away');
            return toyEmbedder.embed(texts, task);
          },
        },
      });
      const other = localIndexOver(moody);
      await other.add(page('https://a.test/pets', 'A puppy needs a walk.'));
      await other.flush();
      expect((await other.stats()).vectors).toBe(0);
      expect(await other.search(parseQuery('puppy'))).toHaveLength(1);
      away = false;
      await other.flush();
      expect((await other.stats()).vectors).toBe(1);
      expect(await other.search(parseQuery('kitten'))).toHaveLength(1);
      await other.close();
    });

    it('is embedded anew if its vectors are those of another model, and searched by words meanwhile', async () => {
      const opened = await open();
      // An index of an earlier version, with vectors of a model that has been replaced.
      const before = createEngine({ store: opened, maxBytes: 1e9, embedder: { ...toyEmbedder, id: 'toy-before' } });
      for (let at = 0; at < 70; at++) await before.add(page(`https://a.test/${at}`, `Page ${at}: a puppy and bread.`));
      await before.flush();
      expect((await opened.stats('toy-before')).vectors).toBe(70);

      const messages: string[] = [];
      let release = () => {};
      const held = new Promise<void>((resolve) => {
        release = resolve;
      });
      const embed: typeof toyEmbedder.embed = async (texts, task) => {
        if (task === 'passage') await held;
        return toyEmbedder.embed(texts, task);
      };
      const inform = (message: string) => messages.push(message);
      const after = createEngine({ store: opened, maxBytes: 1e9, embedder: { ...toyEmbedder, embed }, inform });
      const other = localIndexOver(after);
      expect(await other.search(parseQuery('puppy'))).not.toEqual([]);
      expect((await other.stats()).vectors).toBe(0);
      release();
      // Nothing asks for it: opening the index is enough.
      await expect.poll(async () => (await other.stats()).vectors, { timeout: 20_000 }).toBe(70);
      expect((await opened.stats('toy-before')).vectors).toBe(0);
      await expect
        .poll(() => messages.at(-1))
        .toBe('embedding the local index anew with toy: finished after 70 passages');
      expect(messages[0]).toBe(
        'embedding the local index anew with toy: 70 passages; until then they are found by their words',
      );
      expect(await other.search(parseQuery('kitten'))).not.toEqual([]);
      await other.close();
    });

    it('counts the vectors of all models if none is configured', async () => {
      const store = await open();
      const other = localIndexOver(createEngine({ store, maxBytes: 1e9, embedder: toyEmbedder }));
      await other.add(page('https://a.test/pets', 'A puppy needs a walk.'));
      await other.flush();
      expect((await createEngine({ store, maxBytes: 1e9 }).stats()).vectors).toBe(1);
      await other.close();
    });
  });
}
