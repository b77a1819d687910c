/** Selects the parameters that each executor receives (docs/reference/wire/flow.md, Parameters). */
import { ownValue, setOwnValue } from '#own-value.ts';
import { isPlainObject, type JsonObject } from '../values.ts';

export const RESULTS = '__results__';

/** Splits `NAME__key` at the last `__` unless the key starts or ends with it. */
function splitKey(key: string): [name: string, key: string] | undefined {
  const at = key.lastIndexOf('__');
  if (at <= 0 || at + 2 >= key.length || key.startsWith('__')) return undefined;
  return [key.slice(0, at), key.slice(at + 2)];
}

/** Whether any parameter targets a single deployment. If not, all deployments can share one object. */
export function haveTargets(parameters: JsonObject, names: ReadonlySet<string>): boolean {
  for (const key in parameters) if (names.has(key) || splitKey(key)) return true;
  return false;
}

/**
 * The parameters for the deployment `name`: without `OTHER__key`, with `name__key` as `key`, and overridden by the
 * object under `name` if there is one.
 */
export function parametersFor(parameters: JsonObject, name: string): JsonObject {
  const plain: JsonObject = {};
  const specific: JsonObject = {};
  for (const key of Object.keys(parameters)) {
    const split = splitKey(key);
    if (!split) setOwnValue(plain, key, parameters[key]!);
    else if (split[0] === name) setOwnValue(specific, split[1], parameters[key]!);
  }
  const named = ownValue(parameters, name);
  const merged = { ...plain, ...specific };
  return isPlainObject(named) ? { ...merged, ...(named as JsonObject) } : merged;
}
