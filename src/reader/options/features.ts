/** Which plan features a read asks for. */
import type { Feature } from '#plans.ts';
import { type GivenOptions, OPTIONS, type OptionName, type OptionRow } from './options.ts';
import type { Options } from './resolve.ts';

export interface FeatureAsked {
  readonly feature: Feature;
  /** The option that asks for it. */
  readonly option: OptionName;
}

const TABLE: readonly [OptionName, OptionRow][] = Object.entries(OPTIONS) as never;

export function featuresAsked(given: GivenOptions, options: Options): FeatureAsked[] {
  const asked = TABLE.flatMap(([option, { feature }]) => (feature && isOn(given[option]) ? [{ feature, option }] : []));
  if (!options.modelFormat) return asked;
  const option = given.jsonSchema ? 'jsonSchema' : given.respondWith ? 'respondWith' : 'engine';
  return [...asked, { feature: 'modelFormats', option }];
}

const isOn = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 : Boolean(value) && !['none', 'false', 'no'].includes(String(value));
