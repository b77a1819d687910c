/** Schemas of option values for OpenAPI documents, where zod cannot derive them: known values, limits, text forms. */
import * as z from 'zod';

export type JsonSchema = Readonly<Record<string, unknown>>;

export interface ShownSchema {
  /** The schema in a JSON body. Default: the schema that zod derives. */
  readonly json?: JsonSchema;
  /** The schema as the text of a query parameter or header. */
  readonly text: JsonSchema;
}

const SHOWN = new WeakMap<z.ZodType, ShownSchema>();

/**
 * Notes how the input of a schema is shown. Methods such as `refine` copy a schema: note the copy, or use `transform`.
 */
export function showAs<Schema extends z.ZodType>(schema: Schema, form: ShownSchema): Schema {
  SHOWN.set(schema, form);
  return schema;
}

/** The same form in JSON and as text. */
export const showBoth = <Schema extends z.ZodType>(schema: Schema, form: JsonSchema): Schema =>
  showAs(schema, { json: form, text: form });

/** A string with some known values. Others are accepted too. */
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

/** The form noted for a schema, or for the input of its transformations. */
export function shownForm(schema: z.ZodType): ShownSchema | undefined {
  const noted = SHOWN.get(schema);
  if (noted || !(schema instanceof z.ZodPipe)) return noted;
  return shownForm(schema._zod.def.in as z.ZodType);
}
