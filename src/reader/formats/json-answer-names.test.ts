import { describe, expect, it } from 'vitest';
import { INHERITED_NAMES, jsonOf } from '#own-value.suite.ts';
import { checkJson } from './json-answer.ts';

const schemaWith = (name: string, more: readonly (readonly [string, unknown])[]) =>
  JSON.parse(jsonOf([['type', 'object'], ['properties', JSON.parse(jsonOf([[name, { type: 'string' }]]))], ...more]));

describe('a schema with a property that every object inherits', () => {
  it.each(INHERITED_NAMES.filter((name) => name !== '__proto__'))(
    '%s is there when it was written, and not else',
    async (name) => {
      const optional = schemaWith(name, []);
      expect((await checkJson(optional, '{}')).violations).toEqual([]);
      expect((await checkJson(optional, jsonOf([[name, 'x']]))).violations).toEqual([]);
      expect((await checkJson(optional, jsonOf([[name, 1]]))).violations).toHaveLength(1);
      const required = schemaWith(name, [['required', [name]]]);
      expect((await checkJson(required, '{}')).violations).toEqual([
        `the answer must have required property '${name}'`,
      ]);
      expect((await checkJson(required, jsonOf([[name, 'x']]))).violations).toEqual([]);
      const closed = { type: 'object', additionalProperties: false };
      expect((await checkJson(closed, jsonOf([[name, 1]]))).violations).toHaveLength(1);
    },
  );

  it('__proto__ is refused, because it is not checked', async () => {
    await expect(checkJson(schemaWith('__proto__', []))).rejects.toThrow('The schema cannot have the key __proto__');
  });
});
