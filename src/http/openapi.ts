/** Generates parts of an OpenAPI 3.1 document from tables of options. */
import * as z from 'zod';
import type { OptionSource } from './gather.ts';

export interface DescribedOption extends OptionSource {
  readonly meaning: string;
  readonly unit?: string;
  readonly defaultText?: string;
}

/** The JSON schema of an option's input. */
export function inputSchema(schema: z.ZodType): Record<string, unknown> {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      // Bytes are sent as a file part; JSON has no type for them.
      if (zodSchema._zod.def.type === 'custom') Object.assign(jsonSchema, { type: 'string', format: 'binary' });
    },
  }) as Record<string, unknown>;
  return rest;
}

/** Header names in their usual spelling: `X-Respond-With`, `DNT`. */
export const headerTitle = (name: string): string =>
  name === 'dnt'
    ? 'DNT'
    : name.replace(/(^|-)([a-z])/g, (_, dash: string, letter: string) => dash + letter.toUpperCase());

export const describe = ({ meaning, unit, defaultText }: DescribedOption): string =>
  [meaning, unit && `Unit: ${unit}.`, defaultText && `Default: ${defaultText}.`].filter(Boolean).join(' ');

/** One parameter for each header name of each option. */
export const headerParameters = (table: Readonly<Record<string, DescribedOption>>): object[] =>
  Object.entries(table).flatMap(([name, option]) =>
    option.headers.map((header) => ({
      name: headerTitle(header),
      in: 'header',
      required: false,
      description: `\`${name}\`: ${describe(option)}`,
      schema: { type: 'string' },
    })),
  );

export const queryParameters = (table: Readonly<Record<string, DescribedOption>>): object[] =>
  Object.entries(table).map(([name, option]) => ({
    name,
    in: 'query',
    required: false,
    description: describe(option),
    schema: inputSchema(option.schema),
  }));

export const bodySchema = (table: Readonly<Record<string, DescribedOption>>): object => ({
  type: 'object',
  properties: Object.fromEntries(
    Object.entries(table).map(([name, option]) => [
      name,
      { ...inputSchema(option.schema), description: describe(option) },
    ]),
  ),
});
