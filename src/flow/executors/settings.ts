/** Options of built-in executors. Parameters of a request override those of the flow. */
import { createOptionReader, invalidOption, type OptionReader } from '../definition/options.ts';
import type { JsonObject } from '../values.ts';

export type Settings = Readonly<Record<string, unknown>>;

/** `known` lists the options that flows may set. Throws a ParamValidationError for any other. */
export function readSettings(options: Settings, known: readonly string[]): OptionReader {
  for (const name of Object.keys(options)) {
    if (!known.includes(name))
      throw invalidOption(`with.${name}`, `unknown option; expected one of ${known.join(', ')}`);
  }
  return createOptionReader(options, 'with');
}

export const readParameters = (parameters: JsonObject): OptionReader => createOptionReader(parameters, 'parameters');

/** Maximum number of results. Older clients call it `top_k`. */
export const readLimit = (reader: OptionReader): number | undefined =>
  reader.integer('limit', 1) ?? reader.integer('top_k', 1);
