/** Metadata of an Office package: the parts for core and application properties. */
import { ownValue, setOwnValue } from '#own-value.ts';
import { children, textOf } from '../xml/xml.ts';
import type { Package } from './package.ts';

/** Properties that do not describe the content. */
const LEFT_OUT: ReadonlySet<string> = new Set(['HeadingPairs', 'TitlesOfParts', 'HLinks', 'DigSig']);
const NAMES: Readonly<Record<string, string>> = { Application: 'application', Company: 'company', Manager: 'manager' };
const LONGEST_VALUE = 2_000;

export interface Properties {
  readonly title: string;
  readonly metadata: Readonly<Record<string, string>>;
  readonly publishedTime: string | undefined;
  readonly language: string | undefined;
}

export function readProperties(source: Package): Properties {
  const metadata: Record<string, string> = {};
  for (const { type, target } of source.relationships('')) {
    const isCore = type === 'core-properties' || type === 'coreProperties';
    const isApplication = type === 'extended-properties' || type === 'extendedProperties';
    if (!isCore && !isApplication) continue;
    for (const property of children(source.xml(target))) {
      const local = property.name.slice(property.name.indexOf(':') + 1);
      const name = isCore ? local : ownValue(NAMES, local);
      const value = textOf(property).trim();
      if (name === undefined || value === '' || LEFT_OUT.has(local)) continue;
      setOwnValue(metadata, name, value.slice(0, LONGEST_VALUE));
    }
  }
  const { title = '', ...others } = metadata;
  return {
    title: title.replace(/\s+/g, ' '),
    metadata: { ...(title !== '' && { title }), ...others },
    publishedTime: isoTime(metadata.modified) ?? isoTime(metadata.created),
    language: metadata.language,
  };
}

/** Converts a time to ISO 8601; `undefined` if it is invalid or a placeholder date. */
export function isoTime(value: string | undefined): string | undefined {
  const time = value === undefined ? Number.NaN : Date.parse(value);
  const isReal = time > Date.UTC(1980, 0, 2) && time < Date.UTC(9999, 0);
  return isReal ? new Date(time).toISOString() : undefined;
}
