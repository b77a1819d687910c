/** Replaces variables in the strings of a flow file (docs/reference/wire/flow.md, Substitution). */
import { ownValue, setOwnValue } from '#own-value.ts';
import { isObject } from '../values.ts';
import { invalidOption } from './options.ts';

export interface Variables {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values passed to the loader. */
  readonly context: Readonly<Record<string, unknown>>;
}

/** Applies `change` to every string of a tree. Keys are not changed. */
function mapStrings(value: unknown, change: (text: string, path: string) => unknown, path = ''): unknown {
  if (typeof value === 'string') return change(value, path);
  if (Array.isArray(value)) return value.map((part, at) => mapStrings(part, change, `${path}[${at}]`));
  if (!isObject(value)) return value;
  const mapped: Record<string, unknown> = {};
  for (const key of Object.keys(value))
    setOwnValue(mapped, key, mapStrings(value[key], change, path ? `${path}.${key}` : key));
  return mapped;
}

/** Parses a string after substitution: number, boolean, list or quoted string. An empty string becomes null. */
function parseScalar(text: string): unknown {
  if (text === '') return null;
  if (/^[-+]?\d{1,15}$/.test(text) || /^[-+]?(?:\d+\.\d*|\.?\d+)(?:[eE][-+]?\d+)?$/.test(text)) return Number(text);
  if (/^(?:true|false)$/i.test(text)) return text.toLowerCase() === 'true';
  if (/^\[.*\]$/s.test(text)) {
    const inner = text.slice(1, -1).trim();
    return inner === '' ? [] : inner.split(',').map((part) => parseScalar(part.trim()));
  }
  const quoted = /^(["'])(.*)\1$/s.exec(text);
  return quoted ? quoted[2] : text;
}

const IN_BRACES = /\$\{\{ ([\w.]+)(?::-([^{}]*?))? \}\}/g;
const REFERENCE = /\$\{\{(root|this)((?:\.\w+|\[\d+\])+)\}\}/g;
const DOLLAR = /\$([A-Za-z_]\w*)/g;

function fillVariables(text: string, path: string, { env, context }: Variables, warnings: string[]): string {
  const filled = text.replace(IN_BRACES, (written, name: string, fallback: string | undefined) => {
    const [, scope, key = name] = /^(env|context)\.(\w+)$/i.exec(name) ?? [];
    if (scope?.toLowerCase() === 'env') {
      const value = ownValue(env, key) ?? fallback;
      if (value === undefined) throw invalidOption(path, `the environment variable ${key} is not set`);
      return value;
    }
    return Object.hasOwn(context, key) ? String(context[key] ?? '') : (fallback ?? written);
  });
  return filled.replace(DOLLAR, (written, name: string) => {
    const value = ownValue(env, name);
    if (value === undefined) return written;
    warnings.push(`${path}: write \${{ ENV.${name} }} instead of $${name}`);
    return value;
  });
}

function lookUp(from: unknown, steps: string): unknown {
  let value = from;
  for (const [, key, index] of steps.matchAll(/\.(\w+)|\[(\d+)\]/g)) {
    const step = key ?? index!;
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, step)) return undefined;
    value = (value as Record<string, unknown>)[step];
  }
  return value;
}

const parentOf = (path: string): string => path.replace(/(?:^|\.)\w+$|\[\d+\]$/, '');

const at = (root: unknown, path: string): unknown =>
  lookUp(root, path ? `${path.startsWith('[') ? '' : '.'}${path}` : '');

function fillReferences(text: string, path: string, root: unknown): unknown {
  const resolve = (scope: string, steps: string): unknown =>
    lookUp(scope === 'root' ? root : at(root, parentOf(path)), steps);
  const [whole] = [...text.matchAll(REFERENCE)];
  if (whole?.[0] === text) return resolve(whole[1]!, whole[2]!) ?? text;
  const filled = text.replace(REFERENCE, (written, scope: string, steps: string) => {
    const value = resolve(scope, steps);
    return value === undefined || value === null || typeof value === 'object' ? written : String(value);
  });
  return filled === text ? text : parseScalar(filled);
}

/** Maximum number of levels of nested references that are resolved. */
const REFERENCE_PASSES = 3;

/**
 * Returns the tree with variables and references filled in. Throws a ParamValidationError for an environment variable
 * that is not set and has no default (`${{ ENV.X:-default }}`).
 */
export function substitute(tree: unknown, variables: Variables, warnings: string[]): unknown {
  let filled = mapStrings(tree, (text, path) => {
    const changed = fillVariables(text, path, variables, warnings);
    return changed === text ? text : parseScalar(changed);
  });
  for (let pass = 0; pass < REFERENCE_PASSES; pass++) {
    const root = filled;
    filled = mapStrings(root, (text, path) => fillReferences(text, path, root));
  }
  return filled;
}
