/** Determines the plan features that a read needs. */
import type { Feature } from '#plans.ts';
import { type GivenOptions, OPTIONS, type OptionName, type OptionRow } from './options.ts';
import type { Options } from './resolve.ts';

export interface FeatureNeeded {
  readonly feature: Feature;
  /** The option that needs the feature. */
  readonly option: OptionName;
}

const TABLE: readonly [OptionName, OptionRow][] = Object.entries(OPTIONS) as never;

/**
 * Without a vision model (`describesImages`), generated alt text needs no feature: images are not changed,
 * which costs nothing, and the response has a warning.
 */
export function featuresNeeded(
  given: GivenOptions,
  options: Options,
  { describesImages }: { readonly describesImages: boolean },
): FeatureNeeded[] {
  const needed = TABLE.flatMap(([option, { feature }]) =>
    feature && isOn(given[option]) ? [{ feature, option }] : [],
  );
  if (describesImages && options.retainImages.endsWith('_p')) {
    const option = given.withGeneratedAlt ? 'withGeneratedAlt' : 'retainImages';
    needed.push({ feature: 'generatedAlt', option });
  }
  if (!options.modelFormat) return needed;
  const option = given.jsonSchema ? 'jsonSchema' : given.respondWith ? 'respondWith' : 'engine';
  return [...needed, { feature: 'modelFormats', option }];
}

const isOn = (value: unknown) =>
  Array.isArray(value) ? value.length > 0 : Boolean(value) && !['none', 'false', 'no'].includes(String(value));
