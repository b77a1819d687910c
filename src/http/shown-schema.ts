/** OpenAPI schemas for option values where zod cannot derive them: known values, limits, text forms. */
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ShownSchema {
  /** The schema in a JSON body. Default: the schema that zod derives. */
  readonly json?: JsonSchema;
  /** The schema of the text in a query parameter or header. */
  readonly text: JsonSchema;
}

const SHOWN = new WeakMap<z.ZodType, ShownSchema>();

/**
 * Registers how the input of a schema is documented. Methods such as `refine` copy a schema, so register the copy, or
 * use `transform`.
 */
export function showAs<Schema extends z.ZodType>(schema: Schema, form: ShownSchema): Schema {
  SHOWN.set(schema, form);
  return schema;
}

/** Documents the same form for JSON and for text. */
export const showBoth = <Schema extends z.ZodType>(schema: Schema, form: JsonSchema): Schema =>
  showAs(schema, { json: form, text: form });

/** A string with some known values. Other values are accepted too. */
export const openWords = <Schema extends z.ZodType = z.ZodString>(
  words: readonly string[],
  schema: Schema = z.string() as unknown as Schema,
  other: JsonSchema = {},
): Schema =>
  showBoth(schema, {
    anyOf: [
      { type: 'string', enum: words },
      { type: 'string', ...other },
    ],
  });

/** The form registered for a schema, or for the input of its transformations. */
export function shownForm(schema: z.ZodType): ShownSchema | undefined {
  const noted = SHOWN.get(schema);
  if (noted || !(schema instanceof z.ZodPipe)) return noted;
  return shownForm(schema._zod.def.in as z.ZodType);
}
