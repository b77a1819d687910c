/** Document properties of Office 2003 XML files, in the form of a newer package (ECMA-376 part 2, 11). */
import { ownValue } from '#own-value.ts';
import { children, type XmlElement } from '../xml/xml.ts';

/** The names in the newer format. */
const NAMES: Readonly<Record<string, string>> = {
  'o:Title': 'dc:title',
  'o:Subject': 'dc:subject',
  'o:Author': 'dc:creator',
  'o:Keywords': 'cp:keywords',
  'o:Description': 'dc:description',
  'o:Category': 'cp:category',
  'o:LastAuthor': 'cp:lastModifiedBy',
  'o:Created': 'dcterms:created',
  'o:LastSaved': 'dcterms:modified',
};

/** The core properties in `o:DocumentProperties`. */
export function corePropertiesOf(properties: XmlElement | undefined): XmlElement {
  const inside = children(properties).flatMap((property): XmlElement[] => {
    const name = ownValue(NAMES, property.name);
    return name === undefined ? [] : [{ name, attributes: [], children: property.children }];
  });
  return { name: 'cp:coreProperties', attributes: [], children: inside };
}
