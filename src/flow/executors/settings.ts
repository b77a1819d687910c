/** Options of ready-made executors: what the flow's file says, and over it what a request's parameters say. */
import { createOptionReader, invalid, type OptionReader } from '../options.ts';
import type { JsonObject } from '../values.ts';

export type Settings = Readonly<Record<string, unknown>>;

/** `known` are the names that a flow's file may use. Throws a ParamValidationError for any other. */
export function readSettings(options: Settings, known: readonly string[]): OptionReader {
  for (const name of Object.keys(options)) {
    if (!known.includes(name)) throw invalid(`with.${name}`, `there is no such option; there are ${known.join(', ')}`);
  }
  return createOptionReader(options, 'with');
}

export const readParameters = (parameters: JsonObject): OptionReader => createOptionReader(parameters, 'parameters');

/** How many results are wanted; `top_k` is what older clients say. */
export const limitOf = (reader: OptionReader): number | undefined =>
  reader.integer('limit', 1) ?? reader.integer('top_k', 1);
