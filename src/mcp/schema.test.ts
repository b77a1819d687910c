import { expect, it } from 'vitest';
import * as z from 'zod';
import { cacheJsonSchema } from './schema.ts';

const TARGET = { target: 'draft-2020-12' } as const;

it('caches its JSON schemas for input and output, and validates as before', async () => {
  const schema = z.strictObject({ a: z.int().default(1) });
  const { validate, jsonSchema } = cacheJsonSchema(schema)['~standard'];
  expect(jsonSchema.input(TARGET)).toEqual(schema['~standard'].jsonSchema.input(TARGET));
  expect(jsonSchema.output(TARGET)).toEqual(schema['~standard'].jsonSchema.output(TARGET));
  expect(jsonSchema.input(TARGET)).not.toEqual(jsonSchema.output(TARGET));
  const again = cacheJsonSchema(schema)['~standard'].jsonSchema;
  expect(again.input(TARGET)).toBe(jsonSchema.input(TARGET));
  expect(await validate({})).toEqual({ value: { a: 1 } });
  expect(await validate({ b: 1 })).toMatchObject({ issues: [{}] });
});
