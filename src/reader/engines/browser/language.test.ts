/** The language requested from pages: the caller's, else English, regardless of the server's environment. */
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { headersFor } from '../direct-headers.ts';
import { type Bench, startBench } from './browser.suite.ts';

afterEach(() => vi.unstubAllEnvs());

const MONTH = `new Intl.DateTimeFormat(navigator.language, { month: 'long', timeZone: 'UTC' }).format(0)`;
const FACTS = `JSON.stringify({
  languages: navigator.languages, language: navigator.language, month: ${MONTH},
  number: (1234.5).toLocaleString(), locale: new Intl.NumberFormat().resolvedOptions().locale,
})`;

/** A page with a script that loads its text in the language of the browser. */
const PAGES = {
  '/intl': `<!doctype html><title>Intl</title><main><p>The first word of all.</p></main>
<script>const facts = ${FACTS};
const add = (text) => { const p = document.createElement('p'); p.textContent = text; document.querySelector('main').append(p); };
add(facts);
fetch('/asked').then((answer) => answer.text()).then(add);
const worker = new Worker(URL.createObjectURL(new Blob(['postMessage(' + ${JSON.stringify(FACTS)} + ')'])));
worker.onmessage = ({ data }) => { add(data); add('The worker is done.'); };</script>`,
  '/framed': ({ response, otherOrigin }: { response: import('node:http').ServerResponse; otherOrigin: string }) =>
    void response
      .writeHead(200, { 'content-type': 'text/html' })
      .end(`<!doctype html><p>The first word of a page with a frame.</p><iframe src="${otherOrigin}/inside"></iframe>`),
  '/inside': `<!doctype html><p id="facts"></p><script>document.querySelector('#facts').textContent = ${FACTS}</script>`,
  '/asked': ({ response }: { response: import('node:http').ServerResponse }) => void response.end('asked'),
};

const ENGLISH = { languages: ['en-US', 'en'], language: 'en-US', month: 'January', number: '1,234.5', locale: 'en-US' };
const GERMAN = { languages: ['de-DE', 'de'], language: 'de-DE', month: 'Januar', number: '1.234,5', locale: 'de-DE' };

async function seen(bench: Bench, options: Record<string, unknown> = {}) {
  const { text } = await bench.last('/intl', { ...options, respondTiming: 'network-idle' });
  const facts = [...text.matchAll(/<p>(\{"[^<]*)<\/p>/g)].map(([, json]) => JSON.parse(json!));
  return {
    facts,
    asked: ['/intl', '/asked'].map((path) => bench.site.headers(path)!['accept-language']),
  };
}

describe.each([
  ['without a language', { LANG: undefined, LC_ALL: undefined, LANGUAGE: undefined }],
  ['in another language', { LANG: 'fr_FR.UTF-8', LC_ALL: 'fr_FR.UTF-8', LANGUAGE: 'fr' }],
])('a server started %s', (_, environment) => {
  it("reads pages that depend on the language in English or in the caller's language", async () => {
    for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value);
    const bench = await startBench({ pages: PAGES });
    try {
      expect(await seen(bench)).toEqual({
        facts: [ENGLISH, ENGLISH],
        asked: ['en-US,en;q=0.9', 'en-US,en;q=0.9'],
      });
      const german = await seen(bench, { locale: 'de-DE' });
      const { languages: _, ...inWorker } = GERMAN;
      expect(german.facts).toMatchObject([GERMAN, inWorker]);
      expect(german.asked).toEqual(['de-DE,de;q=0.9', 'de-DE,de;q=0.9']);
    } finally {
      await bench.close();
    }
  });
});

describe('a read', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await startBench({ pages: PAGES });
  });
  afterAll(() => bench.close());

  it.each([undefined, 'de-CH', 'fr', 'zh-Hant-TW'])(
    'sends the same headers with both engines for %s',
    async (locale) => {
      const given = locale === undefined ? {} : { locale };
      const direct = headersFor(new URL(bench.site.origin), given as never, {});
      await bench.last('/framed', { ...given, withIframe: true, respondTiming: 'network-idle' });
      for (const path of ['/framed', '/inside'])
        expect(bench.site.headers(path)!['accept-language'], path).toBe(direct['accept-language']);
    },
  );

  it.each([
    ['DE-ch', 'de-CH,de;q=0.9', 'de-CH'],
    ['qaa', 'qaa', 'qaa'],
    ['en-US-u-ca-buddhist', 'en-US-u-ca-buddhist,en;q=0.9', 'en-US-u-ca-buddhist'],
  ])('requests %s in its usual form', async (locale, header, language) => {
    const { facts, asked } = await seen(bench, { locale });
    expect(asked).toEqual([header, header]);
    expect(facts[0].language).toBe(language);
  });

  it('prefers the header of the caller', async () => {
    await bench.last('/asked', { locale: 'de-CH', customHeader: { 'accept-language': 'it;q=0.5' } });
    expect(bench.site.headers('/asked')!['accept-language']).toBe('it;q=0.5');
  });
});
