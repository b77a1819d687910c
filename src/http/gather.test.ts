import { describe, expect, it } from 'vitest';
import * as z from 'zod';
import { Problem } from '#errors.ts';
import { gather, type OptionTable } from './gather.ts';
import { flag, flagOr, number, object, oneOf, texts, toBoolean } from './values.ts';

const TABLE = {
  links: { headers: ['x-links'], wins: 'header', schema: oneOf(['all', 'none']) },
  quiet: { headers: ['x-quiet'], wins: 'body', schema: flag() },
  frame: { headers: ['x-frame'], wins: 'header', schema: flagOr('quoted') },
  limit: { headers: ['x-limit', 'x-old-limit'], wins: 'body', schema: number({ min: 5, integer: true }) },
  select: { headers: ['x-select'], wins: 'body', schema: texts() },
  shape: { headers: [], wins: 'body', schema: object(z.object({ width: z.int() })) },
} satisfies OptionTable;

const from = (headers: Record<string, string>, body?: Record<string, unknown>, query?: Record<string, unknown>) =>
  gather(TABLE, { headers, body, query });

const failure = (run: () => unknown): Problem => {
  try {
    run();
  } catch (error) {
    if (error instanceof Problem) return error;
  }
  throw new Error('no problem was thrown');
};

describe('pseudo-boolean', () => {
  it.each(['', 'false', 'NO', ' none ', 'null', 'nil', 'NaN', 'undefined', '0'])('%j is false', (text) =>
    expect(toBoolean(text)).toBe(false),
  );
  it.each(['true', 'yes', '1', 'ok', 'on', 'anything', '00'])('%j is true', (text) =>
    expect(toBoolean(text)).toBe(true),
  );
  it('converts JSON values like JavaScript', () => {
    expect([toBoolean(true), toBoolean(0), toBoolean(1), toBoolean(null), toBoolean(undefined)]).toEqual([
      true,
      false,
      true,
      false,
      false,
    ]);
  });
});

describe('precedence', () => {
  it('prefers the header if the table says so', () =>
    expect(from({ 'x-links': 'none' }, { links: 'all' })).toEqual({ links: 'none' }));
  it('prefers the body if the table says so', () =>
    expect(from({ 'x-quiet': 'no' }, { quiet: true })).toEqual({ quiet: true }));
  it('prefers the body to the query', () => expect(from({}, { limit: 7 }, { limit: '9' })).toEqual({ limit: 7 }));
  it('reads the newer header name first', () =>
    expect(from({ 'x-old-limit': '8', 'x-limit': '9' })).toEqual({ limit: 9 }));
  it('omits options that are not set', () => expect(from({})).toEqual({}));
  it('ignores the prototype of a body', () => expect(from({}, Object.create({ limit: 7 }))).toEqual({}));
});

describe('values', () => {
  it('accepts the extra values of a switch', () => {
    expect(from({ 'x-frame': 'Quoted' })).toEqual({ frame: 'quoted' });
    expect(from({}, { frame: false })).toEqual({ frame: false });
  });
  it('makes a list of a single text, and drops empty items', () => {
    expect(from({ 'x-select': '.a, .b' })).toEqual({ select: ['.a, .b'] });
    expect(from({}, { select: ['a', ' '] })).toEqual({ select: ['a'] });
  });
  it('reads objects from JSON text', () => expect(from({}, { shape: '{"width":3}' })).toEqual({ shape: { width: 3 } }));
  it('decodes header values that contain UTF-8', () =>
    expect(from({ 'x-select': Buffer.from('#größe').toString('latin1') })).toEqual({ select: ['#größe'] }));
});

describe('failures name the option and the fault', () => {
  it.each([
    [{ links: 'some' }, 'links', 'links must be one of all, none'],
    [{ limit: 3 }, 'limit', 'limit must be at least 5'],
    [{ limit: '7.5' }, 'limit', 'limit must be a whole number'],
    [{ limit: 'many' }, 'limit', 'limit must be a number'],
    [{ shape: { width: 'wide' } }, 'shape.width', 'shape.width must be a number'],
    [{ shape: '{' }, 'shape', 'shape must be an object or its JSON text'],
    [{ select: 3 }, 'select', 'select must be a string or an array'],
  ])('%j', (body, path, message) => {
    const { name, facts, message: actual } = failure(() => from({}, body));
    expect({ name, path: facts.path, actual }).toEqual({ name: 'ParamValidationError', path, actual: message });
  });
});
