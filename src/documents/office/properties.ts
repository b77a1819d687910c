/** Metadata of an Office package: the parts for core and application properties. */
import { ownValue, setOwnValue } from '#own-value.ts';
import { children, textOf, type XmlElement } from '../xml/xml.ts';
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
    if (/^core-?properties$/i.test(type)) collect(source.xml(target), (name) => name, metadata);
    else if (/^extended-?properties$/i.test(type))
      collect(source.xml(target), (name) => ownValue(NAMES, name), metadata);
  }
  return propertiesIn(metadata);
}

/** The properties in the part for core properties. */
export function readCoreProperties(root: XmlElement): Properties {
  const metadata: Record<string, string> = {};
  collect(root, (name) => name, metadata);
  return propertiesIn(metadata);
}

function collect(
  root: XmlElement | undefined,
  nameOf: (local: string) => string | undefined,
  metadata: Record<string, string>,
): void {
  for (const property of children(root)) {
    const local = property.name.slice(property.name.indexOf(':') + 1);
    const name = nameOf(local);
    const value = textOf(property).trim();
    if (name === undefined || value === '' || LEFT_OUT.has(local)) continue;
    setOwnValue(metadata, name, value.slice(0, LONGEST_VALUE));
  }
}

function propertiesIn(metadata: Readonly<Record<string, string>>): Properties {
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
