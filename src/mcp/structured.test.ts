import { expect, it } from 'vitest';
import { countTokens, loadTokens } from '#reader/index.ts';
import { fitStructured } from './structured.ts';

/** Each quotation mark takes two characters in JSON. */
const body = (tokens: number) => '" '.repeat(tokens);
const build = async (count: number, bodyTokens: number) => ({
  items: Array.from({ length: count }, (_, at) => ({ url: `http://a.example/${at}`, text: body(bodyTokens / count) })),
});

it.each([
  ['everything', 2_000, 5, 100],
  ['less content', 600, 5, 600],
  ['no content', undefined, 5, 600],
  ['fewer items', 60, 20, 600],
])('keeps what fits into the budget: %s', async (kept, given, count, bodyTokens) => {
  const tokens = given ?? (await sizeOf(count, 0));
  const value = await fitStructured({ tokens, bodyTokens, count }, build);
  expect(countTokens(JSON.stringify(value))).toBeLessThanOrEqual(tokens);
  const { length } = value.items[0]!.text;
  expect(value.items.length < count).toBe(kept === 'fewer items');
  expect(length > 0).toBe(kept === 'everything' || kept === 'less content');
});

async function sizeOf(count: number, bodyTokens: number): Promise<number> {
  await loadTokens();
  return countTokens(JSON.stringify(await build(count, bodyTokens)));
}
