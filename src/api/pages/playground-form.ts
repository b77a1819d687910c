/** The forms of the playground, generated from the tables of options. */
import * as z from 'zod';
import { type DescribedOption, headerTitle, inputSchema, jsonSchema } from '#http/openapi.ts';
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
  const known = branchesOf(jsonSchema(schema) as Schema).flatMap((branch) => branch.enum ?? []);
  if (known.length > 0) return known.map(String);
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

/**
 * The form fields of a model request. `known` contains the values of fields whose schema allows any text, because they
 * depend on the model.
 */
export function modelFormOf(
  table: Readonly<Record<string, ModelField>>,
  known: Readonly<Record<string, readonly string[]>> = {},
): FormField[] {
  const fields = Object.entries(table).map(([name, { schema, meaning }]): FormField => {
    const shape = schema as Schema;
    const branches = branchesOf(shape);
    const words = branches.find((branch) => branch.enum)?.enum?.filter((word) => word !== null);
    const types = branches.flatMap(typesOf);
    const named = /Default: (.+)\.$/.exec(meaning)?.[1] ?? (words && shape.default);
    const values = words?.map(String) ?? known[name];
    const kind = values
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
      ...(kind === 'flag' ? { values: ['true', 'false'] } : values && { values }),
      ...(named !== undefined && { default: String(named) }),
      meaning: meaning.replace(/ Default: .+\.$/, ''),
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

const CRAWL_GROUP = 'Crawl';
/** Fields of a crawl that the page sets itself, or that contain the options of pages. */
const CRAWL_INPUTS = new Set(['url', 'urls', 'options', 'cancelOnClose']);
/** Options of a read that a crawl refuses or ignores. */
const NOT_IN_CRAWLS = new Set(['zeroDataRetention', 'explain', 'trace', 'exportStorageState']);

/** The form fields of a crawl: its own, and the reader options for its pages, which are sent in `options`. */
export function crawlForm(table: Readonly<Record<string, DescribedOption>>, reader: readonly FormField[]): FormField[] {
  const grouped: FieldTable = Object.fromEntries(
    Object.entries(table).map(([name, option]) => [name, { ...option, group: CRAWL_GROUP as OptionGroup }]),
  );
  const own = Object.entries(grouped)
    .filter(([name]) => !CRAWL_INPUTS.has(name))
    .flatMap(([name, option]) => fieldsOf(name, option, grouped));
  const perPage = reader
    .filter(({ name }) => !NOT_IN_CRAWLS.has(name))
    .map(({ header: _, ...field }) => ({ ...field, name: `options.${field.name}` }));
  return [...own, ...perPage];
}

/** The fields of a request to a flow, except its documents and its endpoint (docs/reference/wire/flow.md, Requests). */
export const FLOW_FORM: readonly FormField[] = [
  { name: 'parameters', kind: 'json', meaning: 'Values for the executors, as an object.', group: 'Flow' },
  {
    name: 'targetExecutor',
    kind: 'text',
    meaning: 'Only executors whose names match this regular expression receive the documents.',
    group: 'Flow',
  },
];
