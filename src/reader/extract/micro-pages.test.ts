// Full run only: reads hundreds of pages, each at eight URLs.
import { describe, expect, test } from 'vitest';
import { faultsAtUrls, faultsOf } from '../../../test/support/micro-pages/answers.ts';
import { readKnownFaults } from '../../../test/support/micro-pages/known-faults.ts';
import { readWithLectern } from '../../../test/support/micro-pages/lectern.ts';
import { MICRO_PAGE_URLS } from '../../../test/support/micro-pages/micro-page.ts';
import { microPages } from '../../../test/support/micro-pages/micro-pages.ts';

const RECORD = 'run `npm run fit:known`';
const pages = microPages();
const known = readKnownFaults();

test.each(pages)('$family: $name', async (page) => {
  const { lost, extra, texts } = await faultsAtUrls(page, readWithLectern);
  const faults = known[page.family]?.[page.name] ?? {};
  if (lost.length > (faults.lost ?? 0)) expect(lost, 'wanted text is missing').toEqual([]);
  const more = extra.filter((words) => !faults.extra?.includes(words));
  expect(more, 'the answer contains furniture').toEqual([]);
  if (texts > 1) expect(faults.texts, 'the text depends on the URL').toBeGreaterThanOrEqual(texts);
  // Without this, a repaired page could break again unnoticed.
  if (faults.lost) expect(lost.length, `nothing is missing any more: ${RECORD}`).toBeGreaterThan(0);
  if (faults.extra) expect(extra.length, `no furniture is left: ${RECORD}`).toBeGreaterThan(0);
  if (faults.texts) expect(texts, `the text is the same at every URL: ${RECORD}`).toBeGreaterThan(1);
});

describe('the pages', () => {
  test('are more than 240, in at least 12 families, with names of their own', () => {
    expect(pages.length).toBeGreaterThan(240);
    expect(new Set(pages.map(({ family }) => family)).size).toBeGreaterThanOrEqual(12);
    expect(new Set(pages.map(({ family, name }) => `${family}: ${name}`)).size).toBe(pages.length);
    expect(MICRO_PAGE_URLS).toHaveLength(8);
  });

  test.each(pages)('$family: $name has all its words, and nothing both wanted and unwanted', (page) => {
    // URLs and texts in attributes, as text.
    const { lost } = faultsOf(page, [page.html.replaceAll(/="((?:https:|[A-Z])[^"]*)"/g, '> $1 <')]);
    expect(lost).toEqual([]);
    const { extra } = faultsOf({ keep: [], drop: page.drop }, [page.keep.join('\n')]);
    expect(extra).toEqual([]);
  });

  test('every known fault belongs to a page', () => {
    const names = new Set(pages.map(({ family, name }) => `${family}: ${name}`));
    const recorded = Object.entries(known).flatMap(([family, all]) =>
      Object.keys(all).map((name) => `${family}: ${name}`),
    );
    expect(
      recorded.filter((name) => !names.has(name)),
      RECORD,
    ).toEqual([]);
  });
});

describe('faultsOf', () => {
  const page = { keep: ['Boat 1', 'the *old* mill', 'https://clay.example/1'], drop: ['Terms of use'] };

  test('finds words through Markdown', () => {
    const markdown = '- [Boat 1](https://clay.example/1 "x")\n\n| the **old** | mill |';
    expect(faultsOf(page, [markdown, markdown])).toEqual({ lost: [], extra: [], texts: 1 });
  });

  test('compares whole words, at every URL', () => {
    const faults = faultsOf(page, ['Boat 10, the old mill', 'Boat 1, the old mill, Terms of use']);
    expect(faults).toEqual({ lost: ['Boat 1', 'https://clay.example/1'], extra: ['Terms of use'], texts: 2 });
  });
});
