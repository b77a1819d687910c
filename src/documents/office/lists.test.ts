import { expect, it } from 'vitest';
import { type ListPlace, ListWriter } from './lists.ts';

function htmlOf(...items: (readonly [text: string, place: Partial<ListPlace>])[]): string {
  const blocks: string[] = [];
  const list = new ListWriter();
  for (const [text, place] of items)
    list.item({ level: 0, ordered: false, key: 'a', ...place }, text, (html) => blocks.push(html));
  list.end((html) => blocks.push(html));
  return blocks.join('\n');
}

const steps = { level: 1, ordered: true, key: 'steps', indent: 720 };
const dots = { level: 0, key: 'dots', indent: 1440 };

it('nests a list that is indented further, whatever its level', () => {
  expect(htmlOf(['a', { ...steps, value: 1 }], ['aa', dots], ['ab', dots], ['b', { ...steps, value: 2 }])).toBe(
    '<ol><li>a<ul><li>aa</li>\n<li>ab</li></ul></li>\n<li>b</li></ol>',
  );
});

it('nests the items of one list by their levels', () => {
  expect(htmlOf(['a', { level: 1, indent: 720 }], ['b', { level: 0, indent: 1440 }])).toBe(
    '<ul><li>a</li></ul><ul><li>b</li></ul>',
  );
});
