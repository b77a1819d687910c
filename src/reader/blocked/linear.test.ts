/** The examination of hostile pages takes time in proportion to their size. */
// Full run only: measures processor time on large documents.
import { describe, expect, test } from 'vitest';
import { parseDocument } from '#html/parse.ts';
import { examinePage } from './examine.ts';
import { examineText } from './examine-text.ts';
import { hasMuchSource } from './much-source.ts';

const ANSWER = { url: 'https://pots.example/', status: 403 };
const MAX_GROWTH = 8;
/** Below this, the measurement is dominated by the clock and the garbage collector. */
const MIN_MS = 5;
const MAX_RUNS = 4;
const PIECES = 4_000;

const WORDS = 'page access your browser we use cookies too many domain please log in to read error the site is 18 ';

const PAGES: Readonly<Record<string, (count: number) => string>> = {
  'words of many phrases': (count) => `<p>${WORDS.repeat(count)}`,
  'words in links': (count) => `<p>${'<a>page not access denied your </a>'.repeat(count)}`,
  'many headings': (count) => '<h1>page not access denied your country</h1>'.repeat(count),
  'one long title': (count) => `<title>${'page | '.repeat(count)}</title>`,
  'attributes that begin like marks': (count) =>
    '<div id="cf_captcha_kin" class="h-captch g-recaptch"></div>'.repeat(count),
  'scripts that begin like marks': (count) =>
    `<script>${'window.park data-adblockkey captcha-delivery.com _pxApp '.repeat(count)}</script>`,
  'consent containers': (count) => '<div class="cookie-wall">'.repeat(count),
  'unclosed links': (count) => '<a href=x>'.repeat(count),
  'inputs and buttons': (count) => '<input type=text><button>Log in</button>'.repeat(count),
};

function timeOf(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
}

describe('grows with the page', () => {
  test.each(Object.entries(PAGES))('%s', (_, pageOf) => {
    const small = parseDocument(pageOf(PIECES));
    const large = parseDocument(pageOf(PIECES * 4));
    const source = [pageOf(PIECES), pageOf(PIECES * 4)] as const;
    let growth = Number.POSITIVE_INFINITY;
    for (let run = 0; run < MAX_RUNS && growth > MAX_GROWTH; run++) {
      const one = timeOf(() => {
        examinePage(small, ANSWER);
        examineText(source[0], ANSWER);
        hasMuchSource(source[0]);
      });
      const four = timeOf(() => {
        examinePage(large, ANSWER);
        examineText(source[1], ANSWER);
        hasMuchSource(source[1]);
      });
      growth = four / Math.max(one, MIN_MS);
    }
    expect(growth).toBeLessThanOrEqual(MAX_GROWTH);
  });
});
