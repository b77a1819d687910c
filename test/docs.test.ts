/** What is written is held true: the reference pages are those that the tables make, and links between pages exist. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { environmentName, OTHER_VARIABLES, SETTING_NAMES } from '#config.ts';
import { referencePages } from '../scripts/docs.ts';

const ROOT = path.resolve(import.meta.dirname, '..');
const pages = [
  'README.md',
  'ARCHITECTURE.md',
  'CONTRIBUTING.md',
  'bench/README.md',
  ...readdirSync(path.join(ROOT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => path.join('docs', file)),
];

describe('reference pages', () => {
  it.each(Object.entries(referencePages()))('%s is what `npm run docs` makes', (name, text) => {
    expect(readFileSync(path.join(ROOT, 'docs/reference', name), 'utf8')).toBe(text);
  });
});

describe.each(pages)('%s', (file) => {
  const text = readFileSync(path.join(ROOT, file), 'utf8');

  it('links only to files that exist', () => {
    const links = [...text.matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)].map(([, target]) => target!);
    const missing = links.filter((target) => !existsSync(path.resolve(ROOT, path.dirname(file), target)));
    expect(missing).toEqual([]);
  });

  it('names only settings that exist', () => {
    const known = new Set<string>([...SETTING_NAMES.map(environmentName), ...OTHER_VARIABLES]);
    const named = [...text.matchAll(/LECTERN_[A-Z_]+[A-Z]/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name))).toEqual([]);
  });
});
