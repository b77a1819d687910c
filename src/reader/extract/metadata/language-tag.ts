/** Checks and normalizes language tags. `metadata.ts` selects the declaration to use. */

/** A language tag in its usual case (`de-AT`, `zh-Hant`); undefined if it is not a tag. */
export function languageTag(text: string): string | undefined {
  const [first = ''] = text
    .slice(0, 100)
    .split(/[,;\s]/)
    .filter(Boolean);
  const parts = first.replace(/_/g, '-').split('-');
  if (!/^[a-z]{2,3}$/i.test(parts[0]!) || !parts.every((part) => /^[a-z\d]{1,8}$/i.test(part))) return undefined;
  return parts
    .map((part, at) => {
      if (at === 0) return part.toLowerCase();
      if (part.length === 2) return part.toUpperCase();
      return part.length === 4 && /^[a-z]+$/i.test(part) ? part[0]!.toUpperCase() + part.slice(1).toLowerCase() : part;
    })
    .join('-');
}
