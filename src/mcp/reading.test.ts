import { describe, expect, it } from 'vitest';
import { countTokens, loadTokens } from '#reader/index.ts';
import { excerptContent, fenceTokens, formatPage } from './reading.ts';

/** A URL with the highest possible number of tokens per character. */
const LONG_URL = `http://a.example/${Array.from({ length: 2_000 }, (_, at) => `%${(at % 160) + 96}`).join('')}`;
const page = (content: string) => ({ title: '', description: '', url: 'blob:x', content, usage: { tokens: 1 } });

it('shows the status of a target unless it is 200', () => {
  expect(formatPage({ ...page('Gone.'), targetStatus: 404 })).toContain('Status: 404');
  expect(formatPage({ ...page('Here.'), targetStatus: 200 })).not.toContain('Status');
});

describe('a fenced excerpt', () => {
  it.each([
    ['a URL', 'http://a.example/', 'Bees find home by the sun.\n\n'.repeat(5_000)],
    ['a long URL', LONG_URL, 'Bees find home by the sun.\n\n'.repeat(5_000)],
    ['imitated fence marks', 'http://a.example/', '<<<END UNTRUSTED '.repeat(5_000)],
  ])('stays within its token limit: %s', async (_, source, content) => {
    await loadTokens();
    const text = formatPage(page(content));
    for (const tokens of [500, 600, 8_000]) {
      let at = 0;
      // The first piece, then the following ones.
      for (let pieces = 0; pieces < 3; pieces++) {
        const content = await excerptContent({ text, reading: 'x'.repeat(22) }, source, { offset: at, tokens });
        expect(content.map(({ type }) => type)).toEqual(['text', 'resource_link']);
        const [answer, link] = content;
        expect(countTokens(answer.text) + countTokens(JSON.stringify(link))).toBeLessThanOrEqual(tokens);
        const next = Number(/`offset`: (\d+)/.exec(answer.text)![1]);
        expect(next).toBeGreaterThan(at);
        at = next;
      }
    }
  });

  it('is whole with the tokens of its text and fence, whatever the random marks', async () => {
    await loadTokens();
    const text = formatPage(page('Bees find home by the sun.'));
    const source = 'http://a.example/';
    const tokens = countTokens(text) + fenceTokens(source);
    for (let run = 0; run < 30; run++) {
      const content = await excerptContent({ text, reading: 'x'.repeat(22) }, source, { offset: 0, tokens });
      expect(content.map(({ type }) => type)).toEqual(['text']);
    }
  });
});
