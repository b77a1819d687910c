/** YAML front matter before the Markdown of a page (docs/reference/wire/reader.md, Front matter). */
import { oneLine } from './one-line.ts';

export interface FrontmatterFacts {
  readonly title?: string | undefined;
  readonly description?: string | undefined;
  readonly url?: string | undefined;
  readonly publishedTime?: string | undefined;
  readonly lang?: string | undefined;
  readonly numPages?: number | undefined;
  readonly warning?: string | undefined;
}

const KEYS = ['title', 'description', 'url', 'publishedTime', 'lang', 'numPages', 'warning'] as const;

/** A double-quoted YAML scalar. JSON's escapes are valid in YAML, but YAML has three more line break characters. */
const quoted = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f\u0085\u2028\u2029\ufeff]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/**
 * The front matter with its two `---` lines and the blank line after it; '' if all values are empty. A warning keeps
 * its line breaks; every other value is written on one line.
 */
export function frontmatter(facts: FrontmatterFacts): string {
  const lines: string[] = [];
  for (const key of KEYS) {
    const value = facts[key];
    if (value === undefined || value === '') continue;
    const text = typeof value === 'number' ? String(value) : key === 'warning' ? value.trim() : oneLine(value);
    if (text !== '') lines.push(`${key}: ${quoted(text)}`);
  }
  return lines.length === 0 ? '' : `---\n${lines.join('\n')}\n---\n\n`;
}
