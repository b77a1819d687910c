/** Limits on redirects, and on navigations that a page itself starts. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { sendHtml } from '../../../../test/site/site.ts';
import { type Bench, startBench } from './browser.suite.ts';

const LONG_MS = 120_000;
const PAST = {
  name: 'AssertionFailureError',
  message: 'The target redirects too many times',
  facts: { targetStatus: 302 },
};
const NOTE = 'The page redirects again and again; this is the last page that was read';

let bench: Bench;
/** The requested hops, by the name of their chain. */
const asked = new Map<string, number[]>();
const hops = (chain: string) => asked.get(chain) ?? [];
const upTo = (last: number) => Array.from({ length: last + 1 }, (_, at) => at);

beforeAll(async () => {
  bench = await startBench({
    pages: {
      // Each hop redirects to the next, until the hop `last`, which is a page.
      '/hop': ({ response, url }) => {
        const chain = url.searchParams.get('chain')!;
        const at = Number(url.searchParams.get('at'));
        asked.set(chain, [...hops(chain), at]);
        if (at >= Number(url.searchParams.get('last'))) return sendHtml(response, '<title>End</title><p>The end.');
        url.searchParams.set('at', String(at + 1));
        response.writeHead(302, { location: url.href }).end();
      },
      '/framed': ({ response, otherOrigin }) =>
        sendHtml(
          response,
          `<title>Framed</title><p>Around.<iframe src="/hop?chain=frame&at=0&last=40"></iframe>
          <iframe src="${otherOrigin}/hop?chain=other-frame&at=0&last=40"></iframe>
          <iframe src="/hop?chain=short-frame&at=0&last=10"></iframe>`,
        ),
      '/leaves': '<title>Leaves</title><p>Still here.<script>location.href = "/hop?chain=left&at=0&last=40"</script>',
      '/wanders': ({ response, url }) => {
        const at = Number(url.searchParams.get('at'));
        const next = `/wanders?at=${at + 1}`;
        const way =
          url.searchParams.get('by') === 'script' ? `<script>location.href = "${next}&by=script"</script>` : '';
        const refresh = way ? '' : `<meta http-equiv="refresh" content="0;url=${next}">`;
        sendHtml(response, `<title>Place ${at}</title>${refresh}<p>This is place ${at}.${way}`);
      },
      '/reloads': '<title>Reloads</title><p>Round.<script>setTimeout(() => location.reload(), 0)</script>',
    },
  });
}, LONG_MS);
afterAll(() => bench.close());

it('follows ten redirects, and does not request an eleventh', { timeout: LONG_MS }, async () => {
  const page = await bench.last('/hop?chain=ten&at=0&last=10');
  expect(page.text).toContain('The end.');
  expect(hops('ten')).toEqual(upTo(10));
  await expect(bench.last('/hop?chain=eleven&at=0&last=11')).rejects.toMatchObject(PAST);
  expect(hops('eleven')).toEqual(upTo(10));
});

it('counts redirects with headers of the caller', { timeout: LONG_MS }, async () => {
  const customHeader = { 'x-own': '1' };
  await expect(bench.last('/hop?chain=own&at=0&last=30', { customHeader })).rejects.toMatchObject(PAST);
  expect(hops('own')).toEqual(upTo(10));
});

it('counts redirects of the page of preloadUrl', { timeout: LONG_MS }, async () => {
  const preloadUrl = `${bench.site.origin}/hop?chain=before&at=0&last=40`;
  expect((await bench.last('/article', { preloadUrl })).text).toContain('harbour');
  expect(hops('before')).toEqual(upTo(10));
});

it('counts redirects of each frame, and reads the page around it', { timeout: LONG_MS }, async () => {
  const page = await bench.last('/framed', { withIframe: true }, 30_000);
  expect(page.text).toContain('Around.');
  expect(page.text).toContain('The end.');
  for (const chain of ['frame', 'other-frame', 'short-frame']) expect(hops(chain), chain).toEqual(upTo(10));
});

it('counts redirects in frames of submitted HTML', { timeout: LONG_MS }, async () => {
  const html = '<title>Given</title><p>Around.<iframe src="/hop?chain=given&at=0&last=40"></iframe>';
  const [page] = (await bench.visit('/given', {}, { html, deadline: performance.now() + 30_000 })).slice(-1);
  expect(page!.text).toContain('Around.');
  expect(Math.max(...hops('given'))).toBeLessThan(20);
});

it('stops a page that navigates into a chain of too many redirects', { timeout: LONG_MS }, async () => {
  const page = await bench.last('/leaves');
  expect(page.text).toContain('Still here.');
  expect(hops('left')).toEqual(upTo(10));
});

it.each(['meta', 'script'])('follows a page that navigates by %s ten times', { timeout: LONG_MS }, async (by) => {
  const page = await bench.last(`/wanders?at=0&by=${by}`, {}, 40_000);
  expect(page.text).toContain('This is place 10.');
  expect(page.notes).toEqual([NOTE]);
});

it('stops a page that reloads itself for ever', { timeout: LONG_MS }, async () => {
  const page = await bench.last('/reloads', {}, 40_000);
  expect(page).toMatchObject({ text: expect.stringContaining('Round.'), notes: [NOTE] });
});
