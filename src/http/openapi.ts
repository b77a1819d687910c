/** Generates parts of an OpenAPI 3.1 document from tables of options. */
import * as z from 'zod';
import type { OptionSource } from './gather.ts';
import { type JsonSchema, shownForm } from './shown-schema.ts';

export interface DescribedOption extends OptionSource {
  readonly meaning: string;
  readonly unit?: string;
  readonly defaultText?: string;
}

/** The JSON schema of the values that an option accepts. */
export function inputSchema(schema: z.ZodType): Record<string, unknown> {
  return convert(schema, () => undefined);
}

/** The JSON schema of an option's input in a JSON body, with its known values and limits. */
export const jsonSchema = (schema: z.ZodType): Record<string, unknown> =>
  convert(schema, (inner) => shownForm(inner)?.json);

function convert(schema: z.ZodType, shown: (inner: z.ZodType) => JsonSchema | undefined): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      const form = shown(zodSchema as unknown as z.ZodType);
      if (form) {
        const { description, default: fallback } = jsonSchema;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key as keyof typeof jsonSchema];
        Object.assign(
          jsonSchema,
          form,
          description && { description },
          fallback !== undefined && { default: fallback },
        );
      }
      // Bytes are sent as a file part, because JSON has no type for them.
      if (zodSchema._zod.def.type === 'custom') Object.assign(jsonSchema, { type: 'string', format: 'binary' });
    },
  }) as Record<string, unknown>;
  return rest;
}

/** The JSON schema of an option's input as the text of a query parameter. */
const textSchema = (schema: z.ZodType): JsonSchema => shownForm(schema)?.text ?? jsonSchema(schema);

/** Returns a header name in its usual spelling: `X-Respond-With`, `DNT`. */
export const headerTitle = (name: string): string =>
  name === 'dnt'
    ? 'DNT'
    : name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());

export const describe = ({ meaning, unit, defaultText }: DescribedOption): string =>
  [meaning, unit && `Unit: ${unit}.`, defaultText && `Default: ${defaultText}.`].filter(Boolean).join(' ');

/** The `default` keyword, for an option whose documented default is one of its values. */
function defaultOf({ schema, defaultText }: DescribedOption): JsonSchema {
  if (defaultText === undefined || /\s/.test(defaultText) || !schema.safeParse(defaultText).success) return {};
  const isJson = /^(?:true|false|\d+)$/.test(defaultText);
  return { default: isJson ? JSON.parse(defaultText) : defaultText };
}

/** The schema of a header. A header has a single value, so a list is written as one text. */
function headerSchema(option: DescribedOption, header: string): JsonSchema {
  const field = option.headerFields?.[header];
  if (field !== undefined) return fieldSchema(jsonSchema(option.schema), field);
  const schema = { ...textSchema(option.schema), ...defaultOf(option) };
  const branches = (schema as { readonly anyOf?: readonly JsonSchema[] }).anyOf;
  const single = branches?.filter(({ type }) => type !== 'array');
  if (!branches || single?.length === branches.length) return schema;
  return single!.length === 1 ? single![0]! : { ...schema, anyOf: single };
}

/** The schema of a field of an object option. */
function fieldSchema({ anyOf = [] }: { readonly anyOf?: readonly JsonSchema[] }, field: string): JsonSchema {
  const object = anyOf.find(({ properties }) => properties !== undefined);
  const { description: _, ...schema } = (object!.properties as Record<string, JsonSchema>)[field]!;
  return schema;
}

/** One parameter for each header name of every option. */
export const headerParameters = (table: Readonly<Record<string, DescribedOption>>): object[] =>
  Object.entries(table).flatMap(([name, option]) =>
    option.headers.map((header) => ({
      name: headerTitle(header),
      in: 'header',
      required: false,
      description: `\`${name}\`: ${describe(option)}`,
      schema: headerSchema(option, header),
    })),
  );

/** `examples` contains values, keyed by the name of the option. */
export const queryParameters = (
  table: Readonly<Record<string, DescribedOption>>,
  examples: Readonly<Record<string, unknown>> = {},
): object[] =>
  Object.entries(table).map(([name, option]) => ({
    name,
    in: 'query',
    required: false,
    description: describe(option),
    schema: { ...textSchema(option.schema), ...defaultOf(option) },
    ...(name in examples && { example: examples[name] }),
  }));

export const bodySchema = (table: Readonly<Record<string, DescribedOption>>): object => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(table).map(([name, option]) => [
      name,
      { ...jsonSchema(option.schema), ...defaultOf(option), description: describe(option) },
    ]),
  ),
});
