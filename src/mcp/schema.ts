/**
 * Caches the JSON form of tool schemas, because the conversion takes milliseconds, and listing tools is free for every
 * caller.
 */
import type { z } from 'zod';

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
      const form = forms.get(name) ?? jsonSchema[io](options);
      forms.set(name, form);
      return form;
    };
  return { input: once('input'), output: once('output') };
}
