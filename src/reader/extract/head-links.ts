/** The links of a page's head (contract, section 5). */
import { attribute, type Element } from '#html/node.ts';
import { resolveUrl } from './links.ts';

/** By rel, then by absolute address, with the other attributes; `stylesheet` and `shortcut` are left out. */
export function headLinks(
  links: readonly Element[],
  baseUrl: string,
): Record<string, Record<string, Record<string, string>>> {
  const external = new Map<string, Map<string, Record<string, string>>>();
  for (const link of links) {
    const rel = attribute(link, 'rel');
    const href = attribute(link, 'href');
    if (!rel || !href) continue;
    const address = resolveUrl(href, baseUrl) ?? href;
    const others = link.attributes.filter((entry) => entry.name !== 'rel' && entry.name !== 'href');
    const facts = Object.fromEntries(others.map((entry) => [entry.name, entry.value]));
    for (const one of new Set(rel.toLowerCase().split(/\s+/))) {
      if (!one || one === 'stylesheet' || one === 'shortcut') continue;
      let byAddress = external.get(one);
      if (!byAddress) {
        byAddress = new Map();
        external.set(one, byAddress);
      }
      byAddress.set(address, facts);
    }
  }
  return Object.fromEntries([...external].map(([rel, byAddress]) => [rel, Object.fromEntries(byAddress)]));
}
