import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Page } from '../../../../test/site/site.ts';
import { type Bench, startBench, words } from './browser.suite.ts';
import { restoreUtf8 } from './undeclared-encoding.ts';

const TEXT = 'Ein à la carte – „Töpfe“ und 陶器, глина, 🏺. ';

let bench: Bench;
beforeAll(async () => {
  const html = (head = '') =>
    `<!doctype html><html><head>${head}<title>Töpfe</title></head><body><p>${TEXT.repeat(20)}</p></body></html>`;
  const send =
    (body: Buffer): Page =>
    ({ response }) =>
      response.writeHead(200, { 'content-type': 'text/html' }).end(body);
  bench = await startBench({
    pages: {
      '/undeclared': send(Buffer.from(html())),
      '/scripted': send(
        Buffer.from(
          html('<script>addEventListener("load", () => document.body.append("\\u00c3\\u00e9 later \\u00e9"))</script>'),
        ),
      ),
      '/latin1': send(
        Buffer.from(
          '<!doctype html><title>x</title><p>Los ni\xf1os com\xedan en el jard\xedn, seg\xfan dijo.',
          'latin1',
        ),
      ),
    },
  });
});
afterAll(() => bench.close());

test('an undeclared UTF-8 page is read as UTF-8', async () => {
  const { text } = await bench.last('/undeclared');
  expect(words(text)).toContain(TEXT.trim());
  expect(text).toContain('<title>Töpfe</title>');
});

test('what its scripts add stays', async () => {
  const { text } = await bench.last('/scripted', { timeout: 20 });
  expect(words(text)).toContain(TEXT.trim());
  expect(text).toContain('Ãé later é');
});

test('other undeclared pages stay', async () => {
  expect(words((await bench.last('/latin1')).text)).toContain('Los niños comían en el jardín, según dijo.');
});

test.each([
  ['TÃ¶pfe â€“ Ã\xa0', 'Töpfe – à'],
  ['é Ãé niño', 'é Ãé niño'],
  ['éÃ¶', 'éö'],
  ['ASCII', 'ASCII'],
])('restores %j', (misread, meant) => expect(restoreUtf8(misread)).toBe(meant));

test('restores long text', () => {
  for (const piece of ['Ã', 'Ã¶', '\xbf', 'ð\x9f'])
    expect(restoreUtf8(piece.repeat(500_000)).length).toBeGreaterThan(0);
});
