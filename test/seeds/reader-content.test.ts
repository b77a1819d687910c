/** Section 4.3: options that select and format the content, tested on HTML that is part of the request. */
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect } from 'vitest';
import { type Headers, type ReaderHost, refused, startReader, type Values } from './reader-host.ts';
import { hosted } from './seed.ts';

const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7';
const SENTENCE = 'Tea is picked by hand on the slopes above the river, and dried in the sun for a day.';
const HTML = `<!doctype html><html lang="en"><head><title>Tea table</title></head><body><main>
<h1>Tea</h1><p>Some <em>fine</em>, <del>cold</del> hot tea from <a href="/shop">the shop</a>, from <a href="/shop">our shop</a>.</p>
<h2>Prices</h2><table><tr><th>Kind</th><th>Price</th></tr><tr><td>Green</td><td>3</td></tr></table>
<p>Here is <img src="/leaf.png" alt="a leaf">, <img src="/bare.png"> and <img src="${PIXEL}" alt="a dot"> in a line.</p>
<h3>Deeper</h3><p>${SENTENCE}</p></main></body></html>`;

let host: ReaderHost;
beforeAll(async () => {
  host = await startReader();
});
afterAll(() => host.close());

/** Reads by GET and by POST, with the same result. */
const read = (options: Values = {}, headers?: Headers) =>
  host.read({ html: HTML, url: 'https://tea.test/table', ...options }, headers);
const markdown = async (options: Values = {}): Promise<string> =>
  (await read({ respondWith: 'markdown', ...options })).data.content;
const expectRefused = async (options: Values) =>
  expect(await read(options)).toMatchObject(refused(Object.keys(options)[0]!));

const MEDIA = `<title>Films</title><main><p>Before the film.</p><video src="/film.mp4" class="big" id="v" style="x:y" data-x="1" aria-label="f"></video>
<p>Between.</p><audio src="/song.mp3"></audio><p>Then.</p><iframe src="https://www.youtube.com/embed/abc"></iframe><p>After the film.</p></main>`;
const media = async (options: Values = {}): Promise<string> =>
  (await host.read({ html: MEDIA, url: 'https://tea.test/', respondWith: 'markdown', ...options })).data.content;

hosted.row(
  '4.3',
  'retainMedia | enum: none, text, link, image, html | link | Media (video, audio, embedded video iframes): none = no media; text = plain label; link = Markdown link; image = Markdown image syntax; html = original HTML with class, id, style, data-*, aria-* attributes stripped',
  async () => {
    expect(await media({ retainMedia: 'none' })).not.toMatch(/Video|Audio|film\.mp4|song|youtube/);
    const text = await media({ retainMedia: 'text' });
    expect(text).toMatch(/Video 1[\s\S]*Audio 1[\s\S]*Video 2/);
    expect(text).not.toMatch(/film\.mp4|song|youtube/);
    const link = await media({ retainMedia: 'link' });
    expect(link).toMatch(
      /\n\[Video 1\]\(https:\/\/tea\.test\/film\.mp4\)[\s\S]*\n\[Audio 1\]\(https:\/\/tea\.test\/song\.mp3\)[\s\S]*\n\[Video 2\]\(https:\/\/www\.youtube\.com\/embed\/abc\)/,
    );
    expect(await media()).toBe(link);
    expect(await media({ retainMedia: 'image' })).toMatch(
      /!\[Video 1\]\(https:\/\/tea\.test\/film\.mp4\)[\s\S]*!\[Audio 1\]\(https:\/\/tea\.test\/song\.mp3\)[\s\S]*!\[Video 2\]\(/,
    );
    const html = await media({ retainMedia: 'html' });
    expect(html).toContain('<video src="https://tea.test/film.mp4"></video>');
    expect(html).toContain('<audio src="https://tea.test/song.mp3"></audio>');
    expect(html).toContain('<iframe src="https://www.youtube.com/embed/abc"></iframe>');
    await expectRefused({ retainMedia: 'sound' });
  },
);

hosted.row(
  '4.3',
  'retainLinks | enum: all, none, text, gpt-oss | all | all = all links; none = no links; text = link text only; gpt-oss = citation format of the form 【{id}†.*】',
  async () => {
    const all = await markdown({ retainLinks: 'all' });
    expect(all).toContain('from [the shop](https://tea.test/shop), from [our shop](https://tea.test/shop).');
    expect(await markdown()).toBe(all);
    expect(await markdown({ retainLinks: 'none' })).not.toMatch(/shop/);
    expect(await markdown({ retainLinks: 'text' })).toContain('hot tea from the shop, from our shop.');
    const cited = await markdown({ retainLinks: 'gpt-oss' });
    expect(cited).toMatch(/from 【1†the shop】, from 【\d+†our shop】/);
    expect(cited).not.toContain('https://tea.test/shop');
    await expectRefused({ retainLinks: 'some' });
  },
  'With `gpt-oss`, the answer also lists the URL of each id.',
);

hosted.row(
  '4.3',
  'withLinksSummary | pseudo-boolean or string | none | Add a dedicated summary section for hyperlinks',
  async () => {
    const text = (options: Values) => read(options, { accept: 'text/plain' });
    const one = '\n\nLinks/Buttons:\n- [the shop](https://tea.test/shop)\n';
    expect((await text({})).text).not.toContain('Links/Buttons:');
    expect((await text({ withLinksSummary: 'false' })).text).not.toContain('Links/Buttons:');
    expect((await text({ withLinksSummary: 'true' })).text.endsWith(one)).toBe(true);
    const all = `${one}- [our shop](https://tea.test/shop)\n`;
    expect((await text({ withLinksSummary: 'all' })).text.endsWith(all)).toBe(true);
    expect((await read({ withLinksSummary: 'true' })).data.links).toEqual({ 'the shop': 'https://tea.test/shop' });
    expect((await read()).data).not.toHaveProperty('links');
  },
  'The string `all` lists every link, also those to the same URL.',
);

hosted.row(
  '4.3',
  'withImagesSummary | pseudo-boolean | none | Add a dedicated summary section for images',
  async () => {
    const text = (options: Values) => read(options, { accept: 'text/plain' });
    expect((await text({})).text).not.toContain('\nImages:\n');
    expect((await text({ withImagesSummary: 'no' })).text).not.toContain('\nImages:\n');
    expect((await text({ withImagesSummary: 'true' })).text).toContain(
      '\n\nImages:\n- ![Image 1: a leaf](https://tea.test/leaf.png)\n',
    );
    const { images } = (await read({ withImagesSummary: 'true' })).data;
    expect(images['Image 1: a leaf']).toBe('https://tea.test/leaf.png');
    expect((await read()).data).not.toHaveProperty('images');
  },
);

hosted.row(
  '4.3',
  'noGfm | pseudo-boolean or string | none | Opt out of the extended table-capable Markdown flavor; true disables it; `table` drops only tables and keeps the table HTML',
  async () => {
    const extended = /\| Kind \| Price \|\n\| --- \| --- \|\n\| Green \| 3 \|/;
    for (const options of [{}, { noGfm: 'false' }]) {
      expect(await markdown(options)).toMatch(extended);
      expect(await markdown(options)).toContain('~~cold~~');
    }
    const none = await markdown({ noGfm: 'true' });
    expect(none).not.toMatch(/\||~~|<td>/);
    expect(none).toMatch(/Kind[\s\S]*Green/);
    const table = await markdown({ noGfm: 'table' });
    expect(table).toContain('~~cold~~');
    expect(table).not.toContain('|');
    expect(table).toMatch(/<table>[\s\S]*<td>Green<\/td>[\s\S]*<\/table>/);
  },
);

hosted.row(
  '4.3',
  'keepImgDataUrl | pseudo-boolean | none | Keep data-URLs as they are instead of converting them to object-URLs; only for Markdown output',
  async () => {
    const hash = createHash('md5').update(PIXEL).digest('hex');
    const object = /!\[Image 3: a dot\]\(blob:http:\/\/[a-z.]+\/([0-9a-f]{32})\)/;
    for (const options of [{}, { keepImgDataUrl: 'false' }])
      expect(object.exec(await markdown(options))![1]).toBe(hash);
    expect(await markdown({ keepImgDataUrl: 'true' })).toContain(`![Image 3: a dot](${PIXEL})`);
    // The HTML is the same with and without the option.
    const html = await read({ respondWith: 'html', keepImgDataUrl: 'true' });
    expect(html.data.html).toBe((await read({ respondWith: 'html' })).data.html);
    expect(html.data.warning).toContain('keepImgDataUrl');
  },
);

hosted.row(
  '4.3',
  'removeSelector | string (CSS selector) | none | Remove matching elements from the full HTML',
  async () => {
    expect(await markdown({ removeSelector: 'table' })).not.toContain('Green');
    const { html } = (await read({ respondWith: 'html', removeSelector: 'main > table, h3 + p' })).data;
    expect(html).not.toMatch(/<table|picked by hand/);
    expect(html).toContain('<h1>Tea</h1>');
    expect((await read({ respondWith: 'html' })).data.html).toContain('<table');
    await expectRefused({ removeSelector: 'a[' });
  },
);

const chunksOf = async (strategy: string): Promise<string[] | undefined> =>
  (await read({ respondWith: 'markdown', markdownChunking: strategy })).data.chunks;

hosted.row(
  '4.3',
  'markdownChunking | enum or string: true, h1, h2, h3, h4, h5, structured, s1, s2, s3, s4, s5 | none | Opt-in chunking of Markdown; with text output, chunks are separated by the character U+001D',
  async () => {
    const html = `<title>Levels</title>${[1, 2, 3, 4, 5, 6].map((n) => `<h${n}>Level ${n}</h${n}><p>Words of ${n}.</p>`).join('')}`;
    const split = async (markdownChunking: string) => {
      const { chunks, content } = (await host.read({ html, respondWith: 'markdown', markdownChunking })).data;
      for (let n = 1; n <= 6; n++) expect(content, markdownChunking).toContain(`${'#'.repeat(n)} Level ${n}\n`);
      return chunks as string[];
    };
    // The title, and one chunk for each level down to this depth.
    for (const kind of ['h', 's'])
      for (let depth = 1; depth <= 5; depth++) {
        const chunks = await split(`${kind}${depth}`);
        expect(chunks.at(-1), `${kind}${depth}`).toContain('Words of 6.');
        expect(chunks.filter((chunk) => chunk.includes('Words of'))).toHaveLength(depth);
      }
    for (const [name, same] of [
      ['true', 'h4'],
      ['structured', 's4'],
    ] as const)
      expect(await split(name)).toEqual(await split(same));
    expect((await split('h2'))[1]).toMatch(/^# Level 1\n/);
    expect((await split('s2')).at(-1)).toMatch(/^# Levels\n# Level 1\n## Level 2\n\nWords of 2/);
    expect(await chunksOf('false')).toBeUndefined();
    expect((await read({ respondWith: 'markdown' })).data).not.toHaveProperty('chunks');
    const answer = await host.read({ html, respondWith: 'markdown', markdownChunking: 'h3' }, { accept: 'text/plain' });
    expect(answer.text.split('\u001d').map((chunk) => chunk.trim())).toEqual(await split('h3'));
    const plain = await host.read({ html, respondWith: 'markdown' }, { accept: 'text/plain' });
    expect(plain.text).not.toContain('\u001d');
  },
);

const LONG = `<title>Long</title><main>${`<p>${SENTENCE}</p>`.repeat(60)}</main>`;
const long = (options: Values, headers?: Headers) => host.read({ html: LONG, ...options }, headers);

hosted.row('4.3', 'maxTokens | number, >= 500 | none | Trim response content at this number of tokens', async () => {
  const whole = (await long({})).data;
  expect(whole.usage.tokens).toBeGreaterThan(1_000);
  const cut = (await long({ maxTokens: 500 })).data;
  expect(cut.usage.tokens).toBe(500);
  expect(whole.content.startsWith(cut.content)).toBe(true);
  expect((await long({ maxTokens: 501 })).data.usage.tokens).toBe(501);
  expect((await long({ maxTokens: 100_000 })).data.content).toBe(whole.content);
  for (const maxTokens of [499, 0, -1, 'many']) expect(await long({ maxTokens })).toMatchObject(refused('maxTokens'));
});

hosted.row(
  '4.3',
  'preset | enum: reader, index, research, agent, spider | none | reader = for human display; index = semantic indexing; research = academic/research agents; agent = day-to-day agents; spider = recursive site crawling. Preset values apply only to options the caller did not set explicitly',
  async () => {
    const by = async (preset: string, more: Values = {}) => (await read({ preset, ...more })).data;
    const plain = (await read()).data;
    const frontMatter = /^---\ntitle: "Tea table"\n/;
    expect(plain.content).not.toMatch(frontMatter);
    const shown: Record<string, unknown> = {};
    for (const preset of ['reader', 'index', 'research', 'agent', 'spider']) {
      shown[preset] = await by(preset);
      expect((shown[preset] as { content: string }).content, preset).toMatch(frontMatter);
    }
    const { reader, index, research, agent, spider } = shown as Record<string, typeof plain>;
    expect(reader.content).toMatch(/\[the shop\]\[1\][\s\S]*\n\[1\]: https:\/\/tea\.test\/shop/);
    expect(reader).not.toHaveProperty('chunks');
    expect(index.content).toContain('tea from the shop, from our shop.');
    expect(index.content).toContain('(Image 1: a leaf)');
    expect(index.chunks.at(-1)).toMatch(/^# Tea table\n# Tea\n## Prices\n### Deeper\n\n/);
    expect(research.content).toContain('[the shop](https://tea.test/shop)');
    expect(research.chunks.at(-1)).toMatch(/^### Deeper\n/);
    expect(agent.content).toContain('(Image 1: a leaf)');
    expect(agent.chunks.at(-1)).toMatch(/^### Deeper\n/);
    expect(spider.links).toEqual([
      ['the shop', 'https://tea.test/shop'],
      ['our shop', 'https://tea.test/shop'],
    ]);
    // Values that the caller sets override the preset, even if they equal the default.
    const own = await by('index', { retainLinks: 'all', markdownChunking: 'false', respondWith: 'content' });
    expect(own.content).toContain('[the shop](https://tea.test/shop)');
    expect(own.content).not.toMatch(frontMatter);
    expect(own).not.toHaveProperty('chunks');
    expect(own.content).toContain('(Image 1: a leaf)');
    await expectRefused({ preset: 'writer' });
  },
);
