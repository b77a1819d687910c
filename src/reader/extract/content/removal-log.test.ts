import { describe, expect, it, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { chooseBlocks } from './choose-blocks.ts';
import { recordDropped } from './record-removals.ts';
import { firstWords, RemovalLog, readableText } from './removal-log.ts';

const FACTS = {
  title: 'Pots',
  types: new Set<string>(),
  path: '/',
  pathAndQuery: '/',
  isRoot: true,
  hasUrl: true,
  urlParts: 0,
  urlDepth: 0,
};

describe('RemovalLog', () => {
  const document = parseDocument('<main><p>one two</p><div>three</div></main>');
  const [p, div] = [find(document, 'p')!, find(document, 'div')!];
  const repeat = (removals: RemovalLog, times: number, ...steps: ('hidden' | 'content' | 'cut')[]) => {
    for (const step of steps) for (let at = 0; at < times; at++) removals.add({ step, rule: 'told', node: p });
  };
  const shares = (removals: RemovalLog) => {
    const counts: Record<string, number> = {};
    for (const { step } of removals.list()) counts[step] = (counts[step] ?? 0) + 1;
    return counts;
  };

  it('records selector, word count and text of a part', () => {
    const removals = new RemovalLog(document);
    removals.add({ step: 'content', rule: 'told', node: p, signs: () => ['its length'] });
    removals.add({ step: 'hidden', rule: 'told', node: p.first!, hidden: true });
    expect(removals.list()).toEqual([
      { step: 'hidden', rule: 'told', selector: 'p', words: 2, text: 'one two', hidden: true },
      { step: 'content', rule: 'told', selector: 'p', words: 2, text: 'one two', signs: ['its length'] },
    ]);
  });

  it('divides the list among the steps, and counts all parts', () => {
    const removals = new RemovalLog(document);
    repeat(removals, 2_000, 'hidden', 'content');
    repeat(removals, 10, 'cut');
    expect(shares(removals)).toEqual({ hidden: 245, content: 245, cut: 10 });
    expect(removals.count).toBe(4_010);
    removals.forget('content');
    expect(shares(removals)).toEqual({ hidden: 490, cut: 10 });
    expect(removals.count).toBe(2_010);
  });

  it('computes signs only for listed parts', () => {
    const removals = new RemovalLog(document);
    let asked = 0;
    const signs = () => [`sign ${++asked}`];
    for (let at = 0; at < 600; at++) removals.add({ step: 'content', rule: 'told', node: div, signs });
    expect(asked).toBe(500);
  });

  it('returns the selector of the original of a copy', () => {
    const removals = new RemovalLog(document);
    const copy = find(parseDocument('<p>one two</p>'), 'p')!;
    expect(removals.selectorOf(copy)).toBeNull();
    removals.sources.set(copy, p);
    expect(removals.selectorOf(copy)).toBe('p');
  });
});

test('firstWords returns one line of at most 100 whole, visible characters', () => {
  expect(firstWords('  one\n\ttwo  ')).toBe('one two');
  expect(firstWords(`one${'\u{e0041}'.repeat(50)} two`)).toBe('one two');
  expect(firstWords('word '.repeat(100)).length).toBe(99);
  expect(firstWords(`${'x'.repeat(99)}😀`)).toBe('x'.repeat(99));
});

test('readableText separates blocks, and omits scripts and styles', () => {
  const html = '<div><p>one</p><p>t<b>w</b>o</p><script>three</script><style>four</style><img alt="five"></div>';
  expect(firstWords(readableText(find(parseDocument(html), 'div')!))).toBe('one two');
  expect(readableText(find(parseDocument(html), 'img')!)).toBe('five');
});

test('a block that was chosen but not kept is recorded under the step unit', () => {
  const prose =
    '<p>There is a sentence here, and another one. It goes on for a while, so that it reads like prose.</p>';
  const document = parseDocument(`<main><h1>Pots</h1>${prose.repeat(8)}</main><footer>All rights reserved</footer>`);
  const removals = new RemovalLog(document);
  const surveyed = survey(document, createClassReader());
  const choice = chooseBlocks(surveyed, FACTS);
  expect(choice.keep[3]).toBe(1);
  const keep = Uint8Array.from(choice.keep);
  keep[3] = 0;
  recordDropped(removals, surveyed, { keep, choice, confidence: 1, source: 'main' }, () => false);
  expect(removals.list()).toContainEqual(expect.objectContaining({ step: 'content', selector: 'footer' }));
  const unit = removals.list().find(({ step }) => step === 'unit');
  expect(unit).toMatchObject({ step: 'unit', selector: 'main > p:nth-of-type(3)' });
  expect(unit!.probability!).toBeGreaterThanOrEqual(unit!.threshold!);
});

test('a block of a small page that the trees overrule is not called boilerplate', () => {
  const document = parseDocument(
    '<body><nav><a href="/">Home</a></nav><main><p>A kiln is hot.</p><p>Share it</p></main>',
  );
  const surveyed = survey(find(document, 'body')!, createClassReader());
  const choice = chooseBlocks(surveyed, FACTS);
  const removals = new RemovalLog(document);
  const keep = Uint8Array.from(surveyed.blocks, ({ text }) => (text === 'A kiln is hot.' ? 1 : 0));
  recordDropped(removals, surveyed, { keep, source: 'container', choice, confidence: 0 }, () => false);
  expect(removals.list()).toMatchObject([
    { step: 'frame', rule: 'boilerplate, recognized by its landmark: <nav>', text: 'Home' },
    {
      step: 'content',
      rule: 'probably not the content of the page',
      text: 'Share it',
      probability: expect.any(Number),
    },
  ]);
});
