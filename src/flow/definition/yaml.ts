/** Reads a flow from YAML or JSON (docs/reference/wire/flow.md, Flow files). */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { type Document, isMap, parseDocument, visit } from 'yaml';
import { ownValue } from '#own-value.ts';
import { isObject } from '../values.ts';
import { type AddOptions, defineFlow } from './define-flow.ts';
import type { FlowDefinition } from './definition.ts';
import { checkKeys, invalidOption, type OptionReport, type Options } from './options.ts';
import { substitute, type Variables } from './variables.ts';

export interface LoadOptions extends Partial<Variables> {
  /** Base folder for relative paths. */
  readonly baseDir?: string;
  /** Options that override those of the file, such as command-line flags. */
  readonly with?: Options;
  /** Unknown options and duplicate names are warnings instead of errors, because older files contain them. */
  readonly lenient?: boolean | undefined;
}

/** Converts `!Name` before a mapping to `jtype: Name` in it. */
function convertTags(document: Document): void {
  visit(document, {
    Map(_, node) {
      const tag = node.tag;
      if (tag?.startsWith('!') && !tag.startsWith('!!') && !node.has('jtype')) node.set('jtype', tag.slice(1));
    },
    Scalar(_, node) {
      if (node.tag?.startsWith('!') && typeof node.value === 'string') node.tag = undefined;
    },
  });
}

function parseYaml(text: string, what: string): Options {
  const document = parseDocument(text, { logLevel: 'silent', uniqueKeys: true });
  const [error] = document.errors;
  if (error) throw invalidOption(what, `not valid YAML: ${error.message.split('\n')[0]}`);
  convertTags(document);
  if (!isMap(document.contents)) throw invalidOption(what, 'expected a mapping');
  return document.toJS({ maxAliasCount: 100 }) as Options;
}

const FLOW_KEYS = ['jtype', 'version', 'with', 'gateway', 'executors', 'deployments', 'pods', 'env', 'name', 'metas'];

/** The list of executors, under any of the three names that its key has had. */
function readEntries(tree: Options): Options[] {
  const [key] = ['executors', 'deployments', 'pods'].filter((name) => tree[name] !== undefined && tree[name] !== null);
  if (!key) return [];
  const list = tree[key];
  if (!Array.isArray(list)) throw invalidOption(key, 'expected a list');
  return list.map((entry, at) => {
    if (typeof entry === 'string') return { uses: entry };
    if (!isObject(entry)) throw invalidOption(`${key}[${at}]`, 'expected a mapping');
    return entry;
  });
}

function readMapping(tree: Options, key: string): Options {
  const value = tree[key] ?? {};
  if (!isObject(value)) throw invalidOption(key, 'expected a mapping');
  return value;
}

/** Parses a flow. Throws a ParamValidationError that names the invalid option. */
export function parseFlow(
  text: string,
  { baseDir = '', env = {}, context = {}, ...rest }: LoadOptions = {},
): FlowDefinition {
  const warnings: string[] = [];
  const variables = { env, context };
  const tree = substitute(parseYaml(text, 'flow'), variables, warnings) as Options;
  if (tree.jtype !== undefined && tree.jtype !== 'Flow')
    throw invalidOption('jtype', `expected Flow, not ${tree.jtype}`);
  const report: OptionReport = { warnings, lenient: rest.lenient ?? false };
  checkKeys(tree, FLOW_KEYS, { path: 'flow', owner: 'the flow' }, report);
  const options = { ...readMapping(tree, 'with'), ...readMapping(tree, 'gateway'), ...rest.with };
  if (tree.env !== undefined && options.env === undefined) options.env = tree.env;
  if (tree.name !== undefined && options.name === undefined) options.name = tree.name;
  const builder = defineFlow(options, {
    baseDir,
    readExecutor: (file) => readExecutorFile(file, variables, warnings),
    lenient: rest.lenient,
  });
  for (const { method, ...entry } of readEntries(tree)) {
    if (entry.name !== 'gateway') addEntry(builder, method, entry);
  }
  const definition = builder.definition();
  return { ...definition, warnings: [...warnings, ...definition.warnings] };
}

function addEntry(builder: ReturnType<typeof defineFlow>, method: unknown, entry: AddOptions): void {
  if (method === undefined || method === null || method === 'add') builder.add(entry);
  else if (method === 'inspect') builder.inspect(entry);
  else if (method === 'needs_all') builder.needsAll(entry);
  else if (method === 'needs') builder.needs([entry.needs ?? []].flat(), entry);
  else throw invalidOption('method', `expected add, needs, needs_all or inspect, not ${method}`);
}

function readExecutorFile(file: string, variables: Variables, warnings: string[]): Options {
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw invalidOption('uses', `${path.basename(file)} cannot be read: ${reasonOf(error)}`);
  }
  return substitute(parseYaml(text, path.basename(file)), variables, warnings) as Options;
}

/** Loads a flow from a file, or from the argument itself if it is YAML or JSON text. */
export function loadFlow(fileOrText: string, options: LoadOptions = {}): FlowDefinition {
  if (/[\n{]/.test(fileOrText)) return parseFlow(fileOrText, options);
  const file = path.resolve(options.baseDir ?? '', fileOrText);
  let text: string;
  try {
    text = readFileSync(file, 'utf8');
  } catch (error) {
    throw invalidOption('uses', `${fileOrText} cannot be read: ${reasonOf(error)}`);
  }
  return { ...parseFlow(text, { ...options, baseDir: path.dirname(file) }), file };
}

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  EACCES: 'permission denied',
  EISDIR: 'it is a folder',
};

function reasonOf(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return ownValue(REASONS, code) ?? code;
}
