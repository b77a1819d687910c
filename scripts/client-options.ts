/**
 * Writes src/client/options.ts from the tables of the code: `npm run docs`. The client imports nothing, so that its types
 * stand alone; a test holds the file to what this makes.
 */
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { type DescribedOption, describe, inputSchema } from '#http/openapi.ts';
import { EMBED_FIELDS, RERANK_FIELDS, type RequestField } from '#models/index.ts';
import { OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';

const HEAD =
  '/** Made by `npm run docs` from the tables of options: what can be asked of each face. */\n// biome-ignore-all format: made by a script\n';

/** They are what is read or searched, and are arguments of their own. */
const READ_TARGETS = ['url', 'html', 'file', 'pdf'];
const QUERY = ['q', 'url', 'html', 'file', 'pdf'];

type Schema = Readonly<Record<string, unknown>>;

export function clientOptions(): string {
  const read = optionMembers(OPTIONS, READ_TARGETS);
  const search = optionMembers(ALL_OPTIONS, QUERY);
  const same = (one: Member) => search.some((other) => lineOf(other) === lineOf(one));
  return [
    HEAD,
    declared('ReadOptions', 'Options of the reader.', read),
    declared(
      'SearchOptions',
      'Options of a search, and those of the reader for the pages that it finds.',
      search.filter((option) => !read.some((other) => lineOf(other) === lineOf(option))),
      `Omit<ReadOptions, ${literals(read.filter((option) => !same(option)).map(({ name }) => name))}>`,
    ),
    declared('CrawlRequest', 'How a site is read.', crawlMembers()),
    declared('EmbedRequest', 'A request for vectors.', fieldMembers(EMBED_FIELDS)),
    declared('RerankRequest', 'A request for documents in their order.', fieldMembers(RERANK_FIELDS)),
  ].join('\n');
}

interface Member {
  readonly name: string;
  readonly type: string;
  readonly doc: string;
  readonly required?: boolean | undefined;
}

function declared(name: string, doc: string, members: readonly Member[], base?: string): string {
  const head = base ? `${name} extends ${base}` : name;
  return `${docOf(doc)}\nexport interface ${head} {\n${members.map(lineOf).join('\n')}\n}\n`;
}

function lineOf({ name, type, doc, required }: Member): string {
  const member = required ? `${name}: ${type}` : `${name}?: ${type} | undefined`;
  return `  ${docOf(doc)}\n  readonly ${member};`;
}

const docOf = (text: string) => `/** ${text.replaceAll('*/', '*\\/')} */`;

const optionMembers = (table: Readonly<Record<string, DescribedOption>>, without: readonly string[]): Member[] =>
  Object.entries(table)
    .filter(([name]) => !without.includes(name))
    .map(([name, option]) => ({
      name,
      type: optionType(option),
      doc: describe(option),
    }));

const crawlMembers = (): Member[] =>
  optionMembers(CRAWL_OPTIONS, []).map((member) =>
    member.name === 'options' ? { ...member, type: 'ReadOptions' } : member,
  );

const fieldMembers = (table: Readonly<Record<string, RequestField>>): Member[] =>
  Object.entries(table).map(([name, { schema, meaning, required }]) => ({
    name,
    type: typeOf(schema),
    doc: meaning,
    // Every server has a model of each kind.
    required: required && name !== 'model',
  }));

/** What an option's text is once it was checked; its words are known only then. */
const checkedSchema = ({ schema }: DescribedOption): Schema =>
  z.toJSONSchema(schema, { io: 'output', unrepresentable: 'any' }) as Schema;

/** In headers and forms every option is text; in a program it is what the text stands for. */
function optionType(option: DescribedOption): string {
  const asked = inputSchema(option.schema);
  const checked = checkedSchema(option);
  if (Array.isArray(checked.enum)) return literals(checked.enum as string[]);
  const isFlag = branchesOf(asked).some(({ type }) => type === 'boolean');
  const branches = branchesOf(asked).filter(({ type, enum: words }) => !(isFlag && type === 'number' && words));
  const kinds = new Set(branches.map(({ type }) => type));
  // A flag knows words for "no"; where null is none of them, a text is another value.
  const textIsForm = kinds.has('number') || kinds.has('object') || kinds.has('null');
  const plain = branches.filter(
    ({ type, enum: words, const: word }) =>
      type !== 'null' && (!textIsForm || type !== 'string' || words !== undefined || word !== undefined),
  );
  const [object] = branchesOf(checked).filter(({ properties }) => properties !== undefined);
  return union(plain.map((branch) => (branch.type === 'object' ? objectType(branch, object) : typeOf(branch))));
}

const union = (types: readonly string[]) => [...new Set(types)].join(' | ');

/** Those of a union, and of unions in it. */
function branchesOf(schema: Schema): readonly Schema[] {
  if (Array.isArray(schema.anyOf)) return (schema.anyOf as Schema[]).flatMap(branchesOf);
  return Array.isArray(schema.type) ? (schema.type as string[]).map((type) => ({ ...schema, type })) : [schema];
}

function typeOf(schema: Schema): string {
  if (schema.const !== undefined) return literals([schema.const as string]);
  if (Array.isArray(schema.enum)) return literals(schema.enum as string[]);
  const branches = branchesOf(schema);
  if (branches.length > 1) return union(branches.filter(({ type }) => type !== 'null').map(typeOf));
  switch (schema.type) {
    case 'integer':
    case 'number':
      return 'number';
    case 'array':
      return `readonly ${grouped(typeOf(schema.items as Schema))}[]`;
    case 'object':
      return objectType(schema);
    default:
      return String(schema.type ?? 'unknown');
  }
}

const grouped = (type: string) => (type.includes(' | ') ? `(${type})` : type);
const literals = (words: readonly string[]) => words.map((word) => `'${word}'`).join(' | ');

/** `checked` knows the words of its members, which are texts before. */
function objectType({ properties, required, additionalProperties }: Schema, checked: Schema = {}): string {
  const known = checked.properties as Record<string, Schema> | undefined;
  const members = Object.entries((properties ?? {}) as Record<string, Schema>).map(([name, asked]) => {
    const mark = (required as string[] | undefined)?.includes(name) ? '' : '?';
    return `readonly ${name}${mark}: ${typeOf(known?.[name] ?? asked)}${mark && ' | undefined'}`;
  });
  if (members.length) return `{ ${members.join('; ')} }`;
  const values = additionalProperties as Schema | undefined;
  return `Readonly<Record<string, ${values?.type ? typeOf(values) : 'unknown'}>>`;
}

const here = fileURLToPath(import.meta.url);
if (process.argv[1] === here) {
  writeFileSync(path.resolve(path.dirname(here), '../src/client/options.ts'), clientOptions());
}
