/** Parts of a unit are kept with the rest of it. */
import { describe, expect, test } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { survey } from '../blocks/survey.ts';
import { findBoilerplate } from './boilerplate.ts';
import type { Choice } from './choose-blocks.ts';
import { completeUnits, fillWithin } from './units.ts';

const readClass = createClassReader();
const LONG = 'The kiln takes nine hours to reach its heat, and a whole night to lose it again.';

/** The texts that are kept, where `?` starts a text with a probability of .4, `-` one of .2, and others are chosen. */
function kept(html: string, complete: typeof completeWhole = completeWhole): string[] {
  const surveyed = survey(find(parseDocument(`<body><article>${html}</article>`), 'body')!, readClass);
  const { blocks } = surveyed;
  const keep = Uint8Array.from(blocks, ({ text }) => (/^[?-]/.test(text) ? 0 : 1));
  const probabilities = Float32Array.from(blocks, ({ text }) => ({ '?': 0.4, '-': 0.2 })[text[0]!] ?? 0.9);
  complete(surveyed, keep, probabilities);
  return blocks.filter((_, at) => keep[at]).map(({ text }) => text);
}

function completeWhole(surveyed: ReturnType<typeof survey>, keep: Uint8Array, probabilities: Float32Array): void {
  completeUnits(surveyed, keep, findBoilerplate(surveyed, true), probabilities);
}

function within(surveyed: ReturnType<typeof survey>, keep: Uint8Array, probabilities: Float32Array): void {
  const choice = { probabilities, thresholdWithin: 0.3 } as Partial<Choice> as Choice;
  fillWithin(surveyed, keep, findBoilerplate(surveyed, true), choice);
}

describe('a row', () => {
  test('keeps its label', () => {
    const rows = '<tr><th>-Built</th><td>1882</td></tr><tr><th>-Height</th><td>31 m</td></tr>';
    expect(kept(`<table>${rows}</table>`)).toEqual(['-Built', '1882', '-Height', '31 m']);
  });

  test('of a layout table is judged by its cells', () => {
    const rows = `<tr><td>-Menu</td><td>${LONG}</td></tr><tr><td>-More</td><td>Two</td></tr><tr><td>-Last</td></tr>`;
    expect(kept(`<div><table>${rows}</table></div>`)).not.toContain('-Last');
  });
});

describe('code', () => {
  test('in a wrapper with a button follows the text before it', () => {
    const code = '<div><div><pre>-npm start</pre><button>-Copy this whole thing</button></div></div>';
    expect(kept(`<p>${LONG}</p>${code}`)).toEqual([LONG, '-npm start']);
  });

  test('in a wrapper of another part does not', () => {
    const code = '<div class="advert"><pre>-npm start</pre><p>-Buy more</p></div>';
    expect(kept(`<p>${LONG}</p>${code}`)).toEqual([LONG]);
  });
});

test('a heading is kept with its section, whatever its anchor is named', () => {
  const heading = '<h2 class="anchor anchorWithStickyNavbar_x">-First run</h2>';
  expect(kept(`<p>${LONG}</p>${heading}<p>Switch it on.</p>`)).toContain('-First run');
});

test('a control is kept with the panel that it opens', () => {
  const panel = (attributes: string) =>
    `<p>${LONG}</p><div><button ${attributes}>-Why bricks?</button><p>They are warm.</p></div>`;
  expect(kept(panel('aria-expanded="false"'))).toContain('-Why bricks?');
  expect(kept(panel('type="button"'))).not.toContain('-Why bricks?');
  const inHeading = '<div><h3><button>-Why bricks?</button></h3><p>They are warm.</p></div>';
  expect(kept(`<p>${LONG}</p>${inHeading}`)).toContain('-Why bricks?');
});

test('a heading is kept with its section after text that is not', () => {
  const section = '<div><h2>-First run</h2><p>Switch it on.</p></div>';
  expect(kept(`<p>${LONG}</p><p class="advert">-Buy one.</p>${section}`)).toEqual([
    LONG,
    '-First run',
    'Switch it on.',
  ]);
});

test('the panels of tabs stay together if the first one is kept', () => {
  const panels = (first: string, second: string) =>
    kept(`<div class="tab-panel"><p>${first}</p></div><div class="tab-panel">${second}</div>`);
  const season = '<h2>-Season</h2><ul><li>-May and June</li></ul>';
  expect(panels(`${LONG} ${LONG}`, season)).toContain('-May and June');
  expect(panels(`-${LONG} ${LONG}`, season)).not.toContain('-May and June');
  expect(panels(`${LONG} ${LONG}`, '<p><a href="/a">-May and June</a></p>')).not.toContain('-May and June');
});

describe('the last paragraph of a text', () => {
  const text = [1, 2, 3].map((n) => `<p>${n} ${LONG}</p>`).join('');
  const last = (html: string) => kept(text + html).at(-1);

  test('is kept', () => expect(last('<p class="last">?It cannot be turned down.</p>')).toContain('?It cannot'));
  test.each([
    '<p>-It cannot be turned down.</p>',
    '<p class="newsletter">?It cannot be turned down.</p>',
    '<p><a href="/">?It cannot be turned down.</a></p>',
    '<div><p>?It cannot be turned down.</p></div>',
  ])('is judged for itself: %s', (html) => expect(last(html)).not.toContain('It cannot'));
});

describe('between kept blocks', () => {
  const around = (html: string) => kept(`<div><p>${LONG}</p></div>${html}<div><p>End</p></div>`, within);

  test('a lower threshold holds', () => {
    expect(around('<section><p>?Short</p></section>')).toContain('?Short');
    expect(around('<section><p>-Short</p></section>')).not.toContain('-Short');
  });

  test('other parts and long texts stay out', () => {
    expect(around('<div class="newsletter"><p>?Short</p></div>')).not.toContain('?Short');
    expect(around(`<section><p>?${`${LONG} `.repeat(9)}</p></section>`)).toHaveLength(2);
  });
});
