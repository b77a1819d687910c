import { expect, it } from 'vitest';
import * as z from 'zod';
import { cacheJsonSchema, unlisted } from './schema.ts';

const TARGET = { target: 'draft-2020-12' } as const;

it('shortens and caches its JSON schemas for input and output, and validates as before', async () => {
  const schema = z.strictObject({ a: z.int().default(1) });
  const { validate, jsonSchema } = cacheJsonSchema(schema)['~standard'];
  const properties = { a: { type: 'integer', default: 1 } };
  expect(jsonSchema.input(TARGET)).toEqual({ type: 'object', properties, additionalProperties: false });
  expect(jsonSchema.input(TARGET)).not.toEqual(jsonSchema.output(TARGET));
  const again = cacheJsonSchema(schema)['~standard'].jsonSchema;
  expect(again.input(TARGET)).toBe(jsonSchema.input(TARGET));
  expect(await validate({})).toEqual({ value: { a: 1 } });
  expect(await validate({ b: 1 })).toMatchObject({ issues: [{}] });
});

it('accepts and validates arguments that it does not list', async () => {
  const schema = z.strictObject({ a: z.string(), rare: unlisted(z.int().optional()) });
  const { validate, jsonSchema } = cacheJsonSchema(schema)['~standard'];
  expect(jsonSchema.input(TARGET)).toEqual({
    type: 'object',
    properties: { a: { type: 'string' } },
    required: ['a'],
  });
  expect(await validate({ a: '', rare: 2 })).toEqual({ value: { a: '', rare: 2 } });
  expect(await validate({ a: '', rare: 'x' })).toMatchObject({ issues: [{ path: ['rare'] }] });
  expect(await validate({ a: '', other: 2 })).toMatchObject({ issues: [{}] });
});
