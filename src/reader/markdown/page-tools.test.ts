/** Parts for print go if they are notes or repeat the page, and stay if they are its text. */
import { describe, expect, test } from 'vitest';
import { markdownOf } from './convert.suite.ts';

const written = (html: string): string => markdownOf(html);

const FIRST = 'The kiln takes nine hours to reach its heat, and a whole night to lose it again.';
const SECOND = 'Nobody opens the door before morning, however much they want to see the glaze.';
const text = `<p>${FIRST}</p><p>${SECOND}</p>`;

describe.each(['print-only', 'printonly', 'visible-print-block', 'show-for-print', 'd-none d-print-block'])(
  '%s',
  (name) => {
    test('goes if it repeats the page', () => {
      expect(written(`${text}<div class="${name}"><h1>Kilns</h1>${text}</div>`)).toBe(`${FIRST}\n\n${SECOND}`);
    });

    test('goes if it is a note', () => {
      expect(written(`${text}<p class="${name}">Printed from https://kilns.example/ on Monday</p>`)).not.toContain(
        'Printed',
      );
    });

    test('stays if the text is nowhere else, with all its parts', () => {
      const part = `<div class="${name}">${text}<p class="${name}">Inside</p></div>`;
      expect(written(`<nav>Menu</nav>${part}`)).toBe(`Menu\n\n${FIRST}\n\n${SECOND}\n\nInside`);
    });
  },
);

test('a part for print inside a complex table stays if it is the text', () => {
  const cell = `<td colspan="2"><div class="print-only">${text}</div></td>`;
  expect(written(`<table><tr>${cell}</tr><tr><td>a<ul><li>b</ul></td><td>c</td></tr></table>`)).toContain(FIRST);
});
