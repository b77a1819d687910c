/** The links of a page's head (docs/reference/wire/reader.md, JSON answers). */
import { attribute, type Element } from '#html/node.ts';
import { resolveUrl } from '../content/links.ts';

/** The tokens of a `rel` attribute in lower case. */
export function relTokens(rel: string): string[] {
  const words = rel.toLowerCase();
  return /\s/.test(words) ? words.split(/\s+/) : [words];
}

function otherAttributes(link: Element): Record<string, string> {
  const others: [string, string][] = [];
  for (const { name, value } of link.attributes) if (name !== 'rel' && name !== 'href') others.push([name, value]);
  return Object.fromEntries(others);
}

/** Links by rel, then by absolute URL, with their other attributes. `stylesheet` and `shortcut` are omitted. */
export function headLinks(
  links: readonly Element[],
  baseUrl: string,
): Record<string, Record<string, Record<string, string>>> {
  const external = new Map<string, Map<string, Record<string, string>>>();
  for (const link of links) {
    const rel = attribute(link, 'rel');
    const href = attribute(link, 'href');
    if (!rel || !href) continue;
    const rels = relTokens(rel).filter((one) => one && one !== 'stylesheet' && one !== 'shortcut');
    if (!rels.length) continue;
    const url = resolveUrl(href, baseUrl) ?? href;
    const facts = otherAttributes(link);
    for (const one of rels) {
      let byUrl = external.get(one);
      if (!byUrl) {
        byUrl = new Map();
        external.set(one, byUrl);
      }
      byUrl.set(url, facts);
    }
  }
  return Object.fromEntries([...external].map(([rel, byUrl]) => [rel, Object.fromEntries(byUrl)]));
}
