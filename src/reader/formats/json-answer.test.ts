// Full run only: waits for time limits.
import { afterAll, describe, expect, it } from 'vitest';
import { Problem } from '#errors.ts';
import { createRenderer } from '../renderer.ts';
import { checkJson } from './json-answer.ts';

const PERSON = {
  type: 'object',
  required: ['name', 'age'],
  additionalProperties: false,
  properties: { name: { type: 'string' }, age: { type: 'integer', minimum: 0 } },
};

const problemOf = async (work: Promise<unknown>): Promise<Problem> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
};

describe('an answer', () => {
  it.each([
    ['bare', '{"name": "Ada", "age": 36}'],
    ['between fences', '```json\n{"name": "Ada", "age": 36}\n```'],
    ['among words', 'Here it is:\n\n```json\n{"name": "Ada", "age": 36}\n```\nI hope it helps.'],
    ['among words without fences', 'The person is {"name": "Ada", "age": 36}, I think.'],
    ['after thoughts', '<think>{"name": 1}</think>{"name": "Ada", "age": 36}'],
  ])('is found: %s', async (_, text) => {
    const { json, violations } = await checkJson(PERSON, text);
    expect(JSON.parse(json!)).toEqual({ name: 'Ada', age: 36 });
    expect(violations).toEqual([]);
  });

  it.each([
    ['{"name": "Ada"}', "the answer must have required property 'age'"],
    ['{"name": "Ada", "age": -1}', '/age must be >= 0'],
    ['{"name": "Ada", "age": 1, "extra": 2}', 'the answer must NOT have additional properties (extra)'],
    ['no JSON at all', 'the answer is not JSON'],
    ['{"name": "Ada", ', 'the answer is not JSON'],
  ])('is held against the schema: %s', async (text, violation) => {
    expect((await checkJson(PERSON, text)).violations[0]).toBe(violation);
  });

  it('keeps all digits of a number', async () => {
    const { json } = await checkJson({ type: 'object' }, '```json\n{"id": 12345678901234567890}\n```');
    expect(json).toBe('{"id": 12345678901234567890}');
  });

  it('is checked against formats, references and drafts', async () => {
    const schema = { $defs: { day: { type: 'string', format: 'date' } }, $ref: '#/$defs/day' };
    expect((await checkJson(schema, '"2024-02-30"')).violations).toHaveLength(1);
    expect((await checkJson(schema, '"2024-02-29"')).violations).toEqual([]);
    expect((await checkJson({ type: 'string', format: 'own-format' }, '"x"')).violations).toEqual([]);
    for (const $schema of [
      'http://json-schema.org/draft-07/schema#',
      'https://json-schema.org/draft/2019-09/schema',
      'https://json-schema.org/draft/2020-12/schema',
      'https://example.org/own',
    ]) {
      expect((await checkJson({ $schema, type: 'array' }, '[1]')).violations).toEqual([]);
    }
    const tuple = { $schema: 'http://json-schema.org/draft-07/schema#', items: [{ type: 'string' }] };
    expect((await checkJson(tuple, '[1]')).violations).toEqual(['/0 must be string']);
  });
});

describe('a schema', () => {
  const nested = (depth: number) => {
    let schema: object = { type: 'string' };
    for (let at = 0; at < depth; at++) schema = { items: schema };
    return schema;
  };
  it.each<[string, object]>([
    ['of an unknown type', { type: 'strange' }],
    ['with a pattern that is none', { type: 'string', pattern: '(' }],
    ['that points at another document', { $ref: 'http://127.0.0.1:1/schema.json' }],
    ['that points at nothing', { $ref: '#/$defs/none' }],
    ['that is too large', { enum: ['x'.repeat(70_000)] }],
    ['that is too deep', nested(70)],
    ['that is asynchronous', { $async: true, type: 'object' }],
  ])('is refused: %s', async (_, schema) => {
    const { name, facts } = await problemOf(checkJson(schema));
    expect(name).toBe('ParamValidationError');
    expect(facts.path).toBe('jsonSchema');
  });

  it('may be nested up to the limit', async () => {
    expect((await checkJson(nested(25))).violations).toEqual([]);
  });
});

describe('in a thread', () => {
  const renderer = createRenderer({ threads: 1, memoryMb: 512, timeoutMs: 60_000 });
  afterAll(() => renderer.close());
  const NEVER = new AbortController().signal;

  it('a pattern that never finishes is stopped, and the next check works', async () => {
    const schema = { type: 'string', pattern: '^(([a-z])+.)+[A-Z]([a-z])+$' };
    const { name, facts } = await problemOf(renderer.checkJson(schema, JSON.stringify('a'.repeat(60)), NEVER));
    expect(name).toBe('ParamValidationError');
    expect(facts.path).toBe('jsonSchema');
    expect((await renderer.checkJson(PERSON, '{"name": "Ada", "age": 36}', NEVER)).violations).toEqual([]);
  });

  it('a refused schema keeps its error name', async () => {
    const { name, facts } = await problemOf(renderer.checkJson({ type: 'strange' }, undefined, NEVER));
    expect([name, facts.path]).toEqual(['ParamValidationError', 'jsonSchema']);
  });
});
