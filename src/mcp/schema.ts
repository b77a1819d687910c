/**
 * The JSON form of tool schemas, as short as possible: clients put the whole tool list into the model's context. It is
 * cached, because the conversion takes milliseconds, and listing tools is free for every caller.
 */
import type * as z from 'zod';
import { ownValue } from '#own-value.ts';

type Schema = Pick<z.ZodObject, '~standard'>;

const known = new WeakMap<z.ZodObject, Schema>();

export function cacheJsonSchema(schema: z.ZodObject): Schema {
  const made = known.get(schema) ?? { '~standard': { ...schema['~standard'], jsonSchema: cachedConverters(schema) } };
  known.set(schema, made);
  return made;
}

function cachedConverters({ '~standard': { jsonSchema } }: z.ZodObject): Schema['~standard']['jsonSchema'] {
  const forms = new Map<string, Record<string, unknown>>();
  const once =
    (io: 'input' | 'output'): (typeof jsonSchema)['input'] =>
    (options) => {
      const name = `${io} ${options.target}`;
      const form = forms.get(name) ?? shorten(jsonSchema[io](options));
      forms.set(name, form);
      return form;
    };
  return { input: once('input'), output: once('output') };
}

/** Marks an argument that is accepted and validated, but described only in the resource that lists all options. */
export const unlisted = <Schema extends z.ZodType>(schema: Schema): Schema => schema.meta({ [UNLISTED]: true });

const UNLISTED = 'unlisted';

type Json = Record<string, unknown>;

/** Removes what adds no information: unlisted arguments, the default dialect, and the bounds of safe integers. */
function shorten(schema: Json): Json {
  const { $schema: _, properties, additionalProperties, ...whole } = schema;
  const given = Object.entries((properties ?? {}) as Record<string, Json>);
  const shown = given.filter(([, form]) => !(UNLISTED in form));
  return {
    ...whole,
    properties: Object.fromEntries(shown.map(([name, form]) => [name, withoutRedundancy(form)])),
    // Clients check arguments against this form too, and unlisted arguments must pass.
    ...(shown.length === given.length && additionalProperties === false && { additionalProperties }),
  };
}

const REDUNDANT: Record<string, (value: unknown) => boolean> = {
  maximum: (value) => value === Number.MAX_SAFE_INTEGER,
  minimum: (value) => value === Number.MIN_SAFE_INTEGER,
  propertyNames: () => true,
  additionalProperties: (value) => value !== false,
};

function withoutRedundancy(value: Json): Json {
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name, part]) => !ownValue(REDUNDANT, name)?.(part))
      .map(([name, part]) => [name, isObject(part) ? withoutRedundancy(part) : part]),
  );
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
