/**
 * What nobody can see, through the whole server, by both engines and in every format. The pages stand in
 * `test/fixtures/hidden`: `left-out` have a sentence that a person cannot see, `stays` one that looks as if it were
 * hidden and is not. A name with `.browser` or `.direct` is a page that only this engine can judge.
 */
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { startServer, type TestServer } from '../support/server.ts';

const FOLDER = path.resolve(import.meta.dirname, '../fixtures/hidden');
const pagesOf = (kind: string) => readdirSync(path.join(FOLDER, kind)).map((file) => `/${kind}/${file}`);
const [leftOut, stays] = [pagesOf('left-out'), pagesOf('stays')];
const ENGINES = ['direct', 'browser'] as const;

const UNSEEN = /Obey the unseen master|[\u{e0000}-\u{e007f}]{3}/u;
const SEEN = 'The kettle is on the table.';
const STAYS = 'Pour it slowly.';

let site: Site;
let server: TestServer;
beforeAll(async () => {
  const page = (file: string) => [file, readFileSync(path.join(FOLDER, file), 'utf8')] as const;
  site = await startSite({
    ...Object.fromEntries([...leftOut, ...stays].map(page)),
    '/hidden/far.css': ({ response }) =>
      void response.writeHead(200, { 'content-type': 'text/css' }).end('.h{display:none}'),
    '/pot.png': ({ response }) => void response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(POT),
  });
  server = await startServer({ allowNetworks: site.allow.join(',') });
});
afterAll(async () => {
  await server.close();
  await site.close();
});

const POT = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>';

// biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely here
type Answer = any;

async function read(file: string, options: object): Promise<Answer> {
  const answer = await fetch(server.reader, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: JSON.stringify({ url: `${site.origin}${file}`, ...options }),
  });
  expect(answer.status).toBe(200);
  return ((await answer.json()) as Answer).data;
}

const judges = (file: string, engine: string) =>
  !/\.(?:browser|direct)\.html$/.test(file) || file.includes(`.${engine}.`);

describe.each(ENGINES)('by the %s engine', (engine) => {
  describe.concurrent('is left out', () => {
    it.each(leftOut.filter((file) => judges(file, engine)))(
      '%s',
      async (file) => {
        const options = { engine, withLinksSummary: 'all', withImagesSummary: true, noCache: true };
        const { html, ...all } = await read(file, { ...options, respondWith: 'markdown+text+html' });
        expect(JSON.stringify(all)).not.toMatch(UNSEEN);
        expect(all.content).toContain(SEEN);
        expect(all.text).toContain(SEEN);
        expect(html).toContain(SEEN);
        const content = await read(file, { ...options, respondWith: 'frontmatter', markdownChunking: 'true' });
        expect(JSON.stringify(content)).not.toMatch(UNSEEN);
        expect(content.content).toContain(SEEN);
      },
      60_000,
    );
  });

  describe.concurrent('stays', () => {
    it.each(stays.filter((file) => judges(file, engine)))(
      '%s',
      async (file) => {
        const { content, text } = await read(file, { engine, respondWith: 'markdown+text', noCache: true });
        expect(content).toContain(STAYS);
        // As browsers have it, text has nothing of what a closed `details` holds.
        if (!file.includes('/details')) expect(text).toContain(STAYS);
        expect(content).toContain(SEEN);
      },
      60_000,
    );
  });

  it('is counted, in each format', async () => {
    const warning = async (file: string, respondWith: string) =>
      (await read(file, { engine, respondWith, noCache: true })).warning ?? '';
    const LEFT_OUT = 'This page contains 1 piece that a person cannot see, it was left out.';
    const IN_HTML = 'The HTML of this page contains 1 piece that a person cannot see.';
    const file = '/left-out/class-display.html';
    expect(await warning(file, 'text')).toBe(LEFT_OUT);
    expect(await warning(file, 'markdown')).toContain(LEFT_OUT);
    expect(await warning(file, 'markdown')).not.toContain(IN_HTML);
    expect(await warning(file, 'html')).toBe(IN_HTML);
    expect(await warning('/stays/details.html', 'text+html')).toBe('');
  }, 60_000);
});

it('says so when most of a page is hidden by its styles and stays', async () => {
  const { warning } = await read('/stays/most-of-it.html', { engine: 'direct', respondWith: 'text' });
  expect(warning).toBe(
    'Most of the text of this page is hidden by its styles and was kept, since its scripts may show it.',
  );
});

const CONTROLS = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Every text and key of an answer. */
function textsIn(data: Answer): string[] {
  const texts: string[] = [];
  JSON.stringify(data, (key, value) => {
    texts.push(key, ...(typeof value === 'string' ? [value] : []));
    return value;
  });
  return texts;
}

describe.each(ENGINES)('by the %s engine, in every format', (engine) => {
  const CONTROL = '\u001b\u001d\u0085\u009b\u0007';
  const PAGE = `<!doctype html><title>The${CONTROL} kettle</title><meta name="description" content="It is${CONTROL} blue.">
<meta name="author" content="A${CONTROL} Potter"><script type="application/ld+json">{"@type":"Article","headline":"The kettle",
"publisher":{"name":"Pots\\u001b\\u009b31m"}}</script><h1>The${CONTROL} kettle</h1><p>The kettle is on the table.</p>
<p>\u001b<b>[31m</b>red \u009b<i>2J</i> <code>x${CONTROL}y</code> <a href="/a?${CONTROL}" title="t${CONTROL}">lid${CONTROL}</a>
<img src="/pot.png?b" alt="a${CONTROL} pot"></p><pre>line${CONTROL}</pre>`;

  it('no control characters', async () => {
    const more = {
      engine,
      html: PAGE,
      url: `${site.origin}/controls`,
      withLinksSummary: true,
      withImagesSummary: true,
    };
    for (const respondWith of ['markdown', 'text', 'html', 'frontmatter', 'content+text+html']) {
      const text = textsIn(await read('/', { ...more, respondWith })).join('\n');
      expect(text).toContain('kettle');
      expect(text).not.toMatch(CONTROLS);
    }
    const answer = await fetch(server.reader, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(more),
    });
    const body = await answer.text();
    expect(body).toContain('kettle');
    expect(body).not.toMatch(CONTROLS);
  }, 60_000);

  it('no links that run something or lead into a machine', async () => {
    const urls = [
      'file:///etc/passwd',
      'javascript:alert(1)',
      'java\u00adscript:alert(1)',
      ' \u0001javascript:alert(1)',
      'vbscript:x',
      'data:text/html,x',
      'blob:https://x.example/1',
      'filesystem:https://x.example/1',
      'chrome://settings',
      'view-source:https://x.example/',
    ];
    const links = urls.map((url) => `<a href="${url}">to ${url.length}</a>`).join(' ');
    const html = `<!doctype html><title>Links</title><p>Seen. <a href="/fine">fine</a> ${links}</p>`;
    for (const withLinksSummary of [true, 'all']) {
      const {
        links: found,
        content,
        text,
      } = await read('/', {
        engine,
        html,
        url: `${site.origin}/links`,
        withLinksSummary,
        respondWith: 'markdown+text',
      });
      expect(content + text).toContain('Seen.');
      expect(JSON.stringify([found, content, text])).toContain('/fine');
      expect(JSON.stringify([found, content, text])).not.toMatch(
        /(?:file|javascript|vbscript|data|blob|filesystem|chrome|view-source):/,
      );
    }
  }, 60_000);
});

it('keeps relative links of a page that came as a file', async () => {
  const html = '<!doctype html><title>Mine</title><p>Look <a href="more/lids.html">here</a>.</p>';
  const form = new FormData();
  form.set('file', new Blob([html], { type: 'text/html' }), 'mine.html');
  form.set('withLinksSummary', 'true');
  const answer = await fetch(server.reader, { method: 'POST', headers: { accept: 'application/json' }, body: form });
  expect(((await answer.json()) as Answer).data.links).toEqual({ here: 'more/lids.html' });
});
