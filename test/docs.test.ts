/**
 * The documentation matches the code: the reference pages equal those generated from the tables, and the targets of
 * links between pages exist.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { USAGE_GROUPS } from '#accounts/index.ts';
import { createFullProgram } from '#cli/program.ts';
import { environmentName, OTHER_VARIABLES, SETTING_NAMES } from '#config.ts';
import { PLAN_CHOICES, READ_FLAGS, SEARCH_FLAGS, SETTING_FLAGS, USAGE_CHOICES } from '#generated/cli-flags.ts';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { PLAN_NAMES } from '#plans.ts';
import { readFlags, searchFlags, settingFlags } from '../scripts/cli-flags.ts';
import { cliPage, referencePages, useWithPage, useWithPages } from '../scripts/docs.ts';
import {
  INTERFACE_NAMES,
  interfaceDigest,
  interfaceOf,
  interfaceVersionsText,
  nextVersion,
  parseInterfaceVersions,
} from '../scripts/interface-versions.ts';
import { findCommandLines, findError } from './support/command-lines.ts';
import { quietContext } from './support/quiet-context.ts';

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
  it.each(Object.entries(referencePages()))('%s is what `npm run docs` generates', (name, text) => {
    expect(readFileSync(path.join(ROOT, 'docs/reference', name), 'utf8')).toBe(text);
  });

  it('cli.md is what `npm run docs` generates', async () => {
    expect(readFileSync(path.join(ROOT, 'docs/reference/cli.md'), 'utf8')).toBe(await cliPage());
  });

  it('use-with.md is what `npm run docs` generates', () => {
    expect(readFileSync(path.join(ROOT, 'docs/guide/use-with.md'), 'utf8')).toBe(useWithPage());
  });

  it.each(Object.entries(useWithPages()))('use-with/%s has rows, as `npm run docs` generates them', (name, text) => {
    expect(text).toContain('http://HOST:3006');
    expect(readFileSync(path.join(ROOT, 'docs/guide/use-with', name), 'utf8')).toBe(text);
  });

  it('command-line flags match the tables', () => {
    expect(READ_FLAGS).toEqual(readFlags());
    expect(SEARCH_FLAGS).toEqual(searchFlags());
    expect(SETTING_FLAGS).toEqual(settingFlags());
    expect(PLAN_CHOICES).toEqual(PLAN_NAMES);
    expect(USAGE_CHOICES).toEqual(USAGE_GROUPS);
    expect([...READ_FLAGS, ...SEARCH_FLAGS].filter(({ group }) => group === 'Further')).toEqual([]);
  });
});

describe('interface versions', () => {
  const text = readFileSync(path.join(ROOT, 'src/generated/interface-versions.ts'), 'utf8');

  it.each(INTERFACE_NAMES)('%s has the version that `npm run docs` wrote for its tables', (name) => {
    expect(INTERFACE_VERSIONS[name].version).toMatch(/^\d{4}\.(?:0\d|1[0-2])\.[0-3]\d\.[0-2]\d[0-5]\d$/);
    expect(INTERFACE_VERSIONS[name].digest).toBe(interfaceDigest(name));
  });

  it('are read and written in the same form', () => {
    expect(parseInterfaceVersions(text)).toEqual(INTERFACE_VERSIONS);
    expect(interfaceVersionsText(INTERFACE_VERSIONS)).toBe(text);
  });

  it('depend on names and types, not on prose, order or the version', () => {
    const document = { info: { version: '1' }, paths: { '/b': {}, '/a': { summary: 'A', tags: ['x'] } } };
    const edited = { paths: { '/a': {}, '/b': { description: 'B' } }, info: { version: '2' } };
    expect(interfaceOf(edited)).toEqual(interfaceOf(document));
    expect(JSON.stringify(interfaceOf(edited))).toBe(JSON.stringify(interfaceOf(document)));
    const schema = (name: string) => ({ type: 'object', properties: { [name]: { type: 'string' } } });
    expect(interfaceOf(schema('title'))).not.toEqual(interfaceOf(schema('description')));
    expect(interfaceOf({ enum: ['a', 'b'] })).toEqual(interfaceOf({ enum: ['b', 'a'] }));
    expect(interfaceOf({ enum: ['a', 'b'] })).not.toEqual(interfaceOf({ enum: ['a'] }));
  });

  it('stay if the digest stays, and move forward if not', () => {
    const old = { version: '2026.11.23.2359', digest: 'a' };
    const at = (time: string) => Date.parse(time);
    expect(nextVersion(old, 'a', at('2026-12-01T00:00Z'))).toBe(old);
    expect(nextVersion(old, 'b', at('2026-12-01T07:05Z')).version).toBe('2026.12.01.0705');
    expect(nextVersion(old, 'b', at('2026-11-23T23:59Z')).version).toBe('2026.11.24.0000');
    expect(nextVersion(undefined, 'b', at('2026-12-01T07:05Z')).version).toBe('2026.12.01.0705');
  });
});

describe('comments', () => {
  const sources = ['src', 'test'].flatMap((folder) =>
    readdirSync(path.join(ROOT, folder), { recursive: true, encoding: 'utf8' })
      .filter((file) => file.endsWith('.ts') && !file.includes('node_modules'))
      .map((file) => path.join(folder, file)),
  );
  const sectionsOf = (page: string) =>
    [...readFileSync(path.join(ROOT, page), 'utf8').matchAll(/^## (.+)$/gm)].map(([, title]) => title!);

  it('cite only sections of docs/reference/wire that exist', () => {
    const wrong = sources.flatMap((file) => {
      // A citation may be wrapped over several lines of a comment.
      const text = readFileSync(path.join(ROOT, file), 'utf8').replace(/\s*\n\s*(?:\*|\/\/)\s*/g, ' ');
      return [...text.matchAll(/(docs\/reference\/wire\/\w+\.md), ([A-Z].{0,40})/g)]
        .filter(([, page, cited]) => !sectionsOf(page!).some((title) => cited!.startsWith(title)))
        .map(([citation]) => `${file}: ${citation}`);
    });
    expect(wrong).toEqual([]);
  });
});

describe('command lines', async () => {
  const program = await createFullProgram(quietContext);
  // The reference is generated from the commands and shows their general syntax.
  const lines = pages
    .filter((file) => file !== path.join('docs', 'reference', 'cli.md'))
    .flatMap((file) =>
      findCommandLines(readFileSync(path.join(ROOT, file), 'utf8')).map((line) => ({ file, ...line })),
    );

  it('are found in the documents', () => expect(lines.length).toBeGreaterThan(30));

  it('use only existing commands and options', async () => {
    const wrong: string[] = [];
    for (const { file, line, isName } of lines) {
      const fault = await findError(program, line);
      if (fault && !(isName && /missing required|required option/.test(fault)))
        wrong.push(`${file}: ${line}: ${fault}`);
    }
    expect(wrong).toEqual([]);
  });

  it('that are wrong are reported', async () => {
    expect(await findError(program, 'lectern keys make laptop')).toMatch(/unknown command|too many/);
    expect(await findError(program, 'lectern read https://example.com --with-link')).toContain('unknown option');
    expect(await findError(program, 'lectern batch submit lines.jsonl')).toContain('--model');
    expect(await findError(program, 'lectern read https://example.com --with-links-summary -f text')).toBeUndefined();
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
