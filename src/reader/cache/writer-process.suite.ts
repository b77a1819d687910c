/** A process that writes pages to a cache as fast as it can, eight at a time, and prints a line for each written page. */
import { last, page, request } from './cache.suite.ts';
import { openCache } from './cache.ts';

const [dir, from, maxBytes] = process.argv.slice(2);
const cache = await openCache({
  dir: dir!,
  maxBytes: Number(maxBytes),
  freshMs: 1e9,
  keepMs: 1e9,
  mayServeCached: async () => true,
});
let next = Number(from);

async function write(): Promise<never> {
  for (;;) {
    const n = next++;
    const url = `https://tea.example/${n % 300}`;
    const words = Math.random()
      .toString(36)
      .repeat(1 + (n % 400));
    const live = async function* () {
      yield page('', { url, text: `<title>Tea</title><p>begin ${n} ${words} end ${n}</p>` });
    };
    await last(cache.getOrRead(request({ noCache: true }, url), live));
    // A read waits until the pending write of its page is complete.
    await last(cache.getOrRead(request({}, url), live));
    console.log(n);
  }
}

await Promise.all(Array.from({ length: 8 }, write));
