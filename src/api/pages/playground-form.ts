/** The forms of the playground, generated from the tables of options. */
import * as z from 'zod';
import { type DescribedOption, headerTitle, inputSchema } from '#http/openapi.ts';
import { OPTION_GROUPS, type OptionGroup } from '#reader/index.ts';
import type { FormField } from './playground-types.ts';

export type FieldTable = Readonly<Record<string, DescribedOption & { readonly group: OptionGroup }>>;

/** Options that have input fields outside the form. */
const TARGETS = new Set(['url', 'html', 'file', 'pdf', 'q']);

/** The form fields of a table of options, by group. */
export const formOf = (table: FieldTable): FormField[] =>
  OPTION_GROUPS.flatMap((group) =>
    Object.entries(table)
      .filter(([name, option]) => option.group === group && !TARGETS.has(name))
      .flatMap(([name, option]) => fieldsOf(name, option, table)),
  );

function fieldsOf(name: string, option: FieldTable[string], table: FieldTable): FormField[] {
  const { group, meaning, unit, defaultText, headers, schema } = option;
  const members = membersOf(inputSchema(schema));
  if (!members) {
    const kind = kindOf(schema);
    const values = valuesOf(name, schema, kind, meaning).filter((value) => !isOtherOption(value, table));
    // Web pages cannot set the header DNT: the browser controls it.
    const header = headers.find((other) => other !== 'dnt');
    return [
      {
        name,
        ...(header && { header: headerTitle(header) }),
        kind,
        ...(values.length > 0 && { values }),
        ...(defaultText && { default: defaultText }),
        ...(unit && { unit }),
        meaning,
        group,
      },
    ];
  }
  const written = membersOf(outputSchema(schema)) ?? members;
  return Object.entries(members).map(([member, input]) => {
    const header = headers.find((other) => other.endsWith(`-${kebab(member)}`));
    const known = written[member]?.enum?.map(String);
    return {
      name: `${name}.${member}`,
      ...(header && { header: headerTitle(header) }),
      kind: known ? 'choice' : kindOfMember(input),
      ...(known && { values: known }),
      ...(input.default !== undefined && { default: String(input.default) }),
      meaning: input.description ? `${meaning} Here: ${input.description}.` : meaning,
      group,
    };
  });
}

interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly default?: unknown;
  readonly description?: string;
}

const outputSchema = (schema: z.ZodType) => z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema;
const branchesOf = (schema: Schema): readonly Schema[] => schema.anyOf ?? [schema];
const typesOf = ({ type }: Schema): readonly string[] => (typeof type === 'string' ? [type] : (type ?? []));

/** The properties of an object schema; `undefined` if it declares none. */
function membersOf(schema: Schema): Readonly<Record<string, Schema>> | undefined {
  const found = branchesOf(schema).find(({ properties }) => properties && Object.keys(properties).length > 0);
  return found?.properties;
}

function kindOf(schema: z.ZodType): FormField['kind'] {
  if (outputSchema(schema).enum) return 'choice';
  const input = inputSchema(schema) as Schema;
  const types = new Set(branchesOf(input).flatMap(typesOf));
  if (types.has('object')) return 'json';
  if (types.has('array')) return 'list';
  if (types.has('boolean')) return types.has('null') && !typesOf(input).includes('number') ? 'flag' : 'text';
  return types.has('number') && branchesOf(input).length === 1 ? 'number' : 'text';
}

const kindOfMember = (schema: Schema): FormField['kind'] => {
  const [type] = typesOf(schema);
  if (type === 'boolean') return 'flag';
  return type === 'number' || type === 'integer' ? 'number' : 'text';
};

function valuesOf(name: string, schema: z.ZodType, kind: FormField['kind'], meaning: string): string[] {
  if (kind === 'choice') return outputSchema(schema).enum!.map(String);
  if (kind === 'flag') {
    const words = branchesOf(inputSchema(schema) as Schema).flatMap((branch) =>
      typesOf(branch).includes('string') ? (branch.enum ?? []).map(String) : [],
    );
    return ['true', 'false', ...words];
  }
  if (kind !== 'text') return [];
  const named = [...meaning.matchAll(/`([^`\s]+)`/g)].map(([, word]) => word!);
  return [...new Set(named)].filter((word) => word !== name);
}

/** Words in backticks in a description may be the names of other options instead of values. */
const isOtherOption = (word: string, table: FieldTable): boolean => word in table && !TARGETS.has(word);

const kebab = (name: string) => name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

/** A field of a model request, as in the tables of the model host. */
export interface ModelField {
  readonly schema: object;
  readonly meaning: string;
}

/** The form fields of a model request, except those with a separate input on the page. */
export function modelFormOf(table: Readonly<Record<string, ModelField>>, excluded: readonly string[]): FormField[] {
  const fields = Object.entries(table)
    .filter(([name]) => !excluded.includes(name))
    .map(([name, field]): FormField => {
      const schema = field.schema as Schema;
      const branches = branchesOf(schema);
      const known = branches.find((branch) => branch.enum)?.enum?.map(String);
      const types = branches.flatMap(typesOf);
      const named = /Default: (.+)\.$/.exec(field.meaning)?.[1];
      const kind = known
        ? 'choice'
        : types.includes('boolean')
          ? 'flag'
          : types.includes('integer') || types.includes('number')
            ? 'number'
            : types.includes('object') || types.includes('array')
              ? 'json'
              : 'text';
      return {
        name,
        kind,
        ...(kind === 'flag' ? { values: ['true', 'false'] } : known && { values: known }),
        ...(named && { default: named }),
        meaning: field.meaning.replace(/ Default: .+\.$/, ''),
        group: MODEL_GROUP,
      };
    });
  return [...fields, TRACE];
}

const MODEL_GROUP = 'Model';
/** An option that every endpoint of the model host accepts. */
const TRACE: FormField = {
  name: 'trace',
  kind: 'flag',
  values: ['true', 'false'],
  default: 'false',
  meaning: 'Adds `trace` to the response: the steps of the request and how long each took.',
  group: MODEL_GROUP,
};

/** Text recognition options (docs/reference/wire/models.md, Chat completions). */
export const OCR_FORM: readonly FormField[] = [
  {
    name: 'output_format',
    kind: 'choice',
    values: ['markdown', 'text', 'html', 'json', 'hocr'],
    default: 'markdown',
    meaning: 'The format of the text. `json` and `hocr` include boxes and confidences.',
    group: MODEL_GROUP,
  },
  {
    name: 'max_tokens',
    kind: 'number',
    unit: 'tokens',
    meaning:
      'Maximum number of tokens in the response. A longer one is truncated, with `finish_reason` set to `length`.',
    group: MODEL_GROUP,
  },
  TRACE,
];
