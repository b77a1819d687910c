/** The OpenAPI descriptions of options: their words, limits and defaults, wherever an option can be sent. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import * as z from 'zod';
import { bodySchema, type DescribedOption, headerParameters, queryParameters } from './openapi.ts';
import { openWords } from './shown-schema.ts';
import { flag, flagOr, number, object, oneOf, texts } from './values.ts';

const row = (schema: z.ZodType, more: Partial<DescribedOption> = {}): DescribedOption => ({
  headers: ['x-one'],
  wins: 'body',
  schema,
  meaning: 'Does it.',
  ...more,
});

/** The schemas of an option in the query, in its header and in a JSON body. */
function shown(option: DescribedOption) {
  const table = { one: option };
  const schemaOf = ([first]: object[]) => (first as { schema: object }).schema;
  const { properties } = bodySchema(table) as { properties: Record<string, object> };
  const { description: _, ...body } = properties.one as { description: string };
  return { query: schemaOf(queryParameters(table)), header: schemaOf(headerParameters(table)), body };
}

it('shows words as an enum, and their default', () => {
  const schema = { type: 'string', enum: ['a', 'b'], default: 'b' };
  const option = row(oneOf(['a', 'b']), { defaultText: 'b' });
  expect(shown(option)).toEqual({ query: schema, header: schema, body: schema });
});

it('shows known words beside other text, also if the value is transformed', () => {
  const option = row(
    openWords(['a', 'b'])
      .transform((text) => text.trim())
      .refine(Boolean),
  );
  const schema = { anyOf: [{ type: 'string', enum: ['a', 'b'] }, { type: 'string' }] };
  expect(shown(option)).toEqual({ query: schema, header: schema, body: schema });
});

it('shows limits of numbers, which a body may also send as text', () => {
  const limits = { type: 'integer', minimum: 1, maximum: 9, default: 5 };
  const { query, header, body } = shown(row(number({ min: 1, max: 9, integer: true }), { defaultText: '5' }));
  expect([query, header]).toEqual([limits, limits]);
  const isValid = new Ajv2020().compile(body);
  expect([1, '1', 0, 10, 1.5, true].map((value) => isValid(value))).toEqual([true, true, false, false, false, false]);
  expect(shown(row(number({ above: 0 }))).query).toEqual({ type: 'number', exclusiveMinimum: 0 });
});

it('shows booleans with their words', () => {
  const text = { anyOf: [{ type: 'boolean' }, { type: 'string' }], default: false };
  expect(shown(row(flag(), { defaultText: 'false' }))).toMatchObject({ query: text, header: text });
  const isValid = new Ajv2020().compile(shown(row(flagOr('all'))).body);
  expect([true, 0, 'all', null, 2, []].map((value) => isValid(value))).toEqual([true, true, true, true, false, false]);
});

it('shows lists in the query, and one text in a header', () => {
  const { query, header } = shown(row(texts().refine(() => true)));
  expect(query).toMatchObject({ anyOf: [{ type: 'string' }, { type: 'array' }] });
  expect(header).toEqual({ type: 'string' });
});

it('shows an object as its JSON text, and its fields as headers', () => {
  const schema = object(z.object({ style: oneOf(['a', 'b']).optional() }));
  const option = row(schema, { headerFields: { 'x-one': 'style' } });
  expect(shown(option)).toMatchObject({
    query: { type: 'string', contentMediaType: 'application/json' },
    header: { type: 'string', enum: ['a', 'b'] },
    body: { anyOf: [{ type: 'object' }, { type: 'string' }] },
  });
});

it('has no default that is only a description', () => {
  expect(shown(row(z.string(), { defaultText: 'depends on the other options' })).query).toEqual({ type: 'string' });
});
