/** Decides whether a part of a title is the name of the site, as declared by the page or spelled by its host name. */

/** Reduces a name to letters and digits, to compare names that differ only in punctuation. */
export const lettersAndDigits = (text: string): string => text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');

export const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

/** The labels of a host that may be a name, that is, neither `www` nor a public suffix. */
function labelsOf(url: string): { host: string; labels: string[] } {
  let host = '';
  try {
    host = new URL(url).hostname.replace(/^www\d?\./, '');
  } catch {
    return { host, labels: [] };
  }
  if (/^[\d.]+$|:/.test(host)) return { host: '', labels: [] };
  const labels = host.split('.');
  return { host, labels: labels.slice(0, -1).filter((label) => label.length > 3 || labels.length === 2) };
}

const SMALL_WORDS = new Set(['the', 'of', 'and', 'a', 'le', 'la', 'les', 'der', 'die', 'das', 'el', 'il']);

/** Whether the label equals some of the words, joined in order, or the initials of all words. */
function isSpelledBy(words: readonly string[], label: string): boolean {
  const significant = words.filter((word) => !SMALL_WORDS.has(word));
  if (significant.length >= 3 && significant.map((word) => word[0]).join('') === label) return true;
  let rest = label;
  let used = 0;
  for (const word of words) {
    if (!rest.startsWith(word)) continue;
    rest = rest.slice(word.length);
    used++;
  }
  return rest === '' && used >= 2 && used * 2 >= significant.length;
}

export interface SiteNames {
  /** Whether the part is the site's name. */
  isName(piece: string): boolean;
  /** Whether the part is the site's name plus one or two words, as in `Clay House Blog`. */
  containsName(piece: string): boolean;
}

export const NO_SITE_NAMES: SiteNames = { isName: () => false, containsName: () => false };

/** `names` are the names that the page uses for its site, the best first. */
export function createSiteNames(names: readonly string[], url: string): SiteNames {
  const { host, labels } = labelsOf(url);
  const domain = host.split('.').slice(-2).join('.');
  const plainLabels = labels.map(lettersAndDigits).filter((label) => label.length > 1);
  const known = new Set([lettersAndDigits(host), lettersAndDigits(domain), ...plainLabels]);
  const declaredNames: string[][] = [];
  for (const name of new Set(names)) {
    const [head = ''] = name.split(/\s*[|–—•·:]\s*|\s-\s/);
    for (const one of new Set([name, head, name.replace(/\.[a-z]{2,4}$/i, '')])) {
      const words = wordsOf(one);
      const text = words.join('');
      if (text.length < 2) continue;
      known.add(text);
      known.add(text.replace(/^the/, ''));
      declaredNames.push(words);
    }
  }
  known.delete('');
  const isName = (piece: string): boolean => {
    const text = lettersAndDigits(piece);
    if (!text || known.has(text) || known.has(text.replace(/^the/, ''))) return true;
    const words = wordsOf(piece);
    return words.length <= 8 && plainLabels.some((label) => isSpelledBy(words, label));
  };
  const containsName = (piece: string): boolean => {
    if (isName(piece)) return true;
    const words = wordsOf(piece);
    if (words.length > 5) return false;
    return declaredNames.some((name) => {
      if (name.length >= words.length || name.join('').length < 3) return false;
      const starts = name.every((word, at) => word === words[at]);
      return starts || name.every((word, at) => word === words[words.length - name.length + at]);
    });
  };
  return { isName, containsName };
}
