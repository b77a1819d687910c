import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Bench, startBench } from './browser.suite.ts';

const BATCHES = 10;
/** A page that requests the next part when its end comes into view. */
const page = (last: number, style = '', list = 'body') => `<!doctype html><title>Kilns</title>
<style>p{height:600px}${style}</style><div id="list"><p>Part 0</p><p>Words</p><p>Words</p></div><script>
let part = 0;
let busy = false;
const list = ${list === 'body' ? 'document.body' : 'document.getElementById("list")'};
const end = list.appendChild(document.createElement('i'));
end.textContent = 'end';
const root = ${list === 'body' ? 'null' : 'list'};
new IntersectionObserver(async ([entry]) => {
  if (!entry.isIntersecting || busy || part >= ${last}) return;
  busy = true;
  const text = await (await fetch('/part?' + ++part)).text();
  for (const words of [text, 'Words', 'Words']) {
    const p = document.createElement('p');
    p.textContent = words;
    list.insertBefore(p, end);
  }
  busy = false;
}, { root }).observe(end);
</script>`;

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({
    pages: {
      '/growing': page(BATCHES),
      '/endless': page(100_000),
      '/list': page(BATCHES, '#list{height:700px;overflow-y:auto}', 'list'),
      '/still': '<title>Still</title><p>Words</p>',
      '/part': ({ response, url }) => {
        setTimeout(() => response.end(`Part ${url.search.slice(1)}`), 200);
      },
    },
  });
});
afterAll(() => bench.close());

const partsIn = (text: string) => Math.max(...[...text.matchAll(/Part (\d+)/g)].map(([, number]) => Number(number)));

describe('the option scroll', () => {
  test('scrolls until the page stops growing', async () => {
    const { text, notes } = await bench.last('/growing', { scroll: 'idle', timeout: 60 }, 60_000);
    expect(partsIn(text)).toBe(BATCHES);
    expect(notes).toEqual([]);
  });

  test('scrolls a list that scrolls on its own', async () => {
    const { text } = await bench.last('/list', { scroll: 'idle', timeout: 60 }, 60_000);
    expect(partsIn(text)).toBe(BATCHES);
  });

  test('scrolls the given number of times', async () => {
    const [one, three] = [1, 3].map((scroll) => bench.last('/endless', { scroll, timeout: 60 }, 60_000));
    const [few, more] = [partsIn((await one!).text), partsIn((await three!).text)];
    expect(few).toBeGreaterThan(0);
    expect(more).toBeGreaterThan(few);
    expect((await three!).notes).toEqual([]);
  });

  test('says how far it got when the timeout ends it', async () => {
    const { text, notes } = await bench.last('/endless', { scroll: 'idle', timeout: 8 }, 8_000);
    expect(partsIn(text)).toBeGreaterThan(0);
    expect(notes).toEqual([
      expect.stringMatching(
        /^The page was scrolled (?:once|\d+ times) until the deadline \(scroll\); it may have more$/,
      ),
    ]);
  });

  test('ends at once on a page that does not grow', async () => {
    const { text, notes } = await bench.last('/still', { scroll: 100 });
    expect(text).toContain('Words');
    expect(notes).toEqual([]);
  });
});
