import { describe, expect, it } from 'vitest';
import { Document } from '../document.ts';
import { ask, closeAll, flowOf, Mark, textsOf } from '../flow.suite.ts';
import { checkCondition, compileCondition } from './condition.ts';

const document = new Document({
  id: 'd',
  text: 'a small text',
  weight: 3,
  tags: { kind: 'cat', price: 5, inner: { n: 2, list: [1, 2] }, same: 'cat', none: null, flag: true },
  scores: { s: { value: 0.5 } },
  chunks: [new Document(), new Document()],
});

const search = (pattern: string) => (text: string) => text.includes(pattern);
const holds = (when: unknown): boolean => compileCondition(when, search)(document);

describe('a condition', () => {
  it.each<[unknown, boolean]>([
    [{}, true],
    [{ text: { $eq: 'a small text' } }, true],
    [{ text: { $eq: 'other' } }, false],
    [{ tags__price: { $eq: 5 } }, true],
    [{ tags__price: { $eq: '5' } }, false],
    [{ tags__kind: { $neq: 'dog' } }, true],
    [{ tags__kind: { $neq: 'cat' } }, false],
    [{ tags__price: { $lt: 6 } }, true],
    [{ tags__price: { $lt: 5 } }, false],
    [{ tags__price: { $lte: 5 } }, true],
    [{ weight: { $gt: 2 } }, true],
    [{ weight: { $gt: 3 } }, false],
    [{ weight: { $gte: 3 } }, true],
    [{ tags__kind: { $gt: 1 } }, false],
    [{ tags__kind: { $in: ['dog', 'cat'] } }, true],
    [{ tags__kind: { $in: ['dog'] } }, false],
    [{ tags__kind: { $nin: ['dog'] } }, true],
    [{ tags__kind: { $nin: ['cat'] } }, false],
    [{ text: { $regex: 'small' } }, true],
    [{ text: { $regex: 'large' } }, false],
    [{ weight: { $regex: '3' } }, false],
    [{ tags__inner__list: { $size: 2 } }, true],
    [{ chunks: { $size: 2 } }, true],
    [{ chunks: { $size: 1 } }, false],
    [{ tags__inner__n: { $eq: 2 } }, true],
    [{ scores__s__value: { $gte: 0.5 } }, true],
    [{ tags__kind: { $exists: true } }, true],
    [{ tags__absent: { $exists: true } }, false],
    [{ tags__absent: { $exists: false } }, true],
    [{ uri: { $exists: false } }, true],
    [{ text: { $exists: true } }, true],
    [{ tags__absent: { $neq: 'x' } }, false],
    [{ tags__absent: { $nin: ['x'] } }, false],
    [{ tags__absent: { $lt: 1 } }, false],
    [{ tags__none: { $eq: null } }, false],
    [{ tags__kind__deeper: { $eq: 'x' } }, false],
    [{ tags__toString: { $exists: true } }, false],
    [{ tags__kind: { $eq: '{tags__same}' } }, true],
    [{ tags__kind: { $eq: '{tags__price}' } }, false],
    [{ tags__price: { $gt: 4, $lt: 6 } }, true],
    [{ tags__price: { $gt: 4, $lt: 5 } }, false],
    [{ tags__price: { $gt: 4 }, tags__kind: { $eq: 'dog' } }, false],
    [{ $and: [{ tags__price: { $gt: 4 } }, { weight: { $gt: 2 } }] }, true],
    [{ $and: { tags__price: { $gt: 4 }, weight: { $gt: 3 } } }, false],
    [{ $or: [{ tags__price: { $gt: 9 } }, { weight: { $gt: 2 } }] }, true],
    [{ $or: { tags__price: { $gt: 9 }, weight: { $gt: 2 } } }, true],
    [{ $or: [] }, false],
    [{ $not: { tags__kind: { $eq: 'cat' } } }, false],
    [{ $not: { tags__absent: { $eq: 'cat' } } }, true],
    [{ $or: [{ $not: { $and: [{ weight: { $eq: 3 } }] } }, { tags__flag: { $eq: true } }] }, true],
  ])('%j: %s', (when, expected) => {
    expect(holds(when)).toBe(expected);
  });

  it.each<[unknown, RegExp]>([
    [{ text: { $ne: 'a' } }, /operator \$ne/],
    [{ text: { $constructor: 'a' } }, /operator/],
    [{ $xor: [] }, /operator \$xor/],
    [{ text: 'a' }, /expects an operator/],
    [{ nothing: { $eq: 1 } }, /nothing/],
    [{ constructor: { $eq: 1 } }, /constructor/],
    [{ text: { $exists: 1 } }, /true or false/],
    [{ text: { $regex: 1 } }, /pattern/],
    [{ $and: 1 }, /expects conditions/],
    [[], /object/],
  ])('%j is an error', (when, message) => {
    expect(() => checkCondition(when)).toThrow(message);
  });

  it('searches a pattern anywhere in a text in linear time', async () => {
    const flow = await flowOf([{ name: 'a', uses: Mark, when: { text: { $regex: '(a+)+c|small [tx]' } } }]);
    const docs = ['a small text', 'nothing', `${'a'.repeat(30_000)}b`].map((text) => new Document({ text }));
    expect(textsOf(await ask(flow, { docs }))).toEqual(['a small text a']);
    await expect(flowOf([{ name: 'a', when: { text: { $regex: '(' } } }])).rejects.toMatchObject({
      name: 'ParamValidationError',
      message: expect.stringContaining('$regex'),
    });
    await closeAll();
  });
});
