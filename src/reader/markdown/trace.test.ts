import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Element, textOf } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { testOptions } from './convert.suite.ts';
import { toMarkdown } from './to-markdown.ts';

const OPTIONS = testOptions('https://example.org/');

const NAMES =
  'p div span b a h2 h3 ul ol li blockquote pre code table tr td th dl dt dd hr br section img caption q'.split(' ');

/** Generates HTML with nested elements in which every text is a unique word. */
const anyHtml = fc
  .array(fc.tuple(fc.constantFrom(...NAMES), fc.boolean(), fc.boolean(), fc.boolean()), { maxLength: 40 })
  .map((tags) => {
    const open: string[] = [];
    let html = '';
    for (const [at, [name, before, inside, close]] of tags.entries()) {
      if (before) html += ` before${at} `;
      html += name === 'img' ? `<img src="/${at}.png" alt="picture${at}">` : `<${name}>`;
      if (inside) html += `inside${at}`;
      if (close || name === 'pre') html += `</${name}>`;
      else open.push(name);
    }
    return html;
  });

const words = (text: string) => text.match(/(?:before|inside)\d+/g) ?? [];

test('blocks are in order, cover every line, and come from the element with their first word', () => {
  fc.assert(
    fc.property(anyHtml, fc.constantFrom({}, { title: 'Title' }, { headingStyle: 'setext' as const }), (html, more) => {
      const { markdown, trace } = toMarkdown(parseDocument(html), { ...OPTIONS, ...more, trace: true });
      const { markdown: plain } = toMarkdown(parseDocument(html), { ...OPTIONS, ...more });
      expect(markdown).toBe(plain);
      const lines = markdown.split('\n');
      const left = new Set([...lines.keys()].filter((at) => lines[at]!.trim() !== ''));
      if ('title' in more) left.delete(0);
      let last = -1;
      for (const { line, lines: count, source } of trace!.blocks) {
        expect(line).toBeGreaterThan(last);
        last = line + count - 1;
        expect(lines[line]!.trim()).not.toBe('');
        expect(lines[last]!.trim()).not.toBe('');
        for (let at = line; at <= last; at++) left.delete(at);
        const [first] = words(lines.slice(line, last + 1).join('\n'));
        if (first) expect(textOf(source as Element)).toContain(first);
      }
      expect([...left].map((at) => lines[at])).toEqual([]);
    }),
    { seed: 11, numRuns: 500 },
  );
});

test('returns no trace by default', () => {
  expect(toMarkdown(parseDocument('<p>word</p>'), OPTIONS)).not.toHaveProperty('trace');
});
