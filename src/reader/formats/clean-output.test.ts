// Full run only: changes state of the whole process.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cleanMarkdown, unwrapOutput } from './clean-output.ts';

describe('the wrapping of an answer', () => {
  it.each([
    ['# Title\n\nText', '# Title\n\nText'],
    ['```markdown\n# Title\n\nText\n```', '# Title\n\nText'],
    ['  ```\n{"a": 1}\n```  ', '{"a": 1}'],
    ['~~~md\ntext\n~~~', 'text'],
    ['<think>Hm, what\nis it?</think>\n\nAn answer', 'An answer'],
    ['<think>cut off in the middle', ''],
    ['```markdown\n```', ''],
    ['````md\n```js\ncode\n```\n````', '```js\ncode\n```'],
  ])('comes off: %j', (text, expected) => expect(unwrapOutput(text)).toBe(expected));

  it.each([
    ['two blocks', '```\nfirst\n```\n\nand\n\n```\nsecond\n```'],
    ['a block of code', '```js\nlet a = 1\n```'],
    ['a block at the start', '```\nfirst\n```\n\nand more'],
    ['an open block', '```markdown\nnever closed'],
  ])('stays where it is none: %s', (_, text) => expect(unwrapOutput(text)).toBe(text));
});

describe('URLs in an answer', () => {
  it.each([
    ['[a](https://example.org/x_(y) "t") ![b](data:image/png;base64,AA)'],
    ['[a](/relative) [b](#part) [c](mailto:a@example.org)'],
    ['[1]: https://example.org/'],
    ['<https://example.org/>'],
    ['[no] (javascript:x) link'],
    ['```html\n<a href="javascript:void(0)">[x](javascript:x)</a>\n```'],
  ])('stay when they are safe or code: %j', (text) => expect(cleanMarkdown(text)).toBe(text));

  it.each([
    ['[go](javascript:alert(1)) on', '[go] on'],
    ['[go](  <javascript:alert(1)>  "title") on', '[go] on'],
    ['[go](java&#x73;cript:x) [go](javascript&colon;x)', '[go] [go]'],
    ['[go](javascript\\:x)', '[go]'],
    ['[go](vbscript:x) ![p](data:text/html,hi)', '[go] ![p]'],
    ['[[a](javascript:x)](https://example.org/)', '[[a]](https://example.org/)'],
    ['[go](javascript:never closed', '[go]\\(javascript:never closed'],
    ['before\n[1]: javascript:x "t"\nafter', 'before\n\nafter'],
    ['<javascript:alert(1)>', 'javascript:alert(1)'],
    ['<a href="javascript:x">a</a> <img src=\'data:text/html,x\'>', '\\<a href="">a\\</a> \\<img src="">'],
  ])('go when they are not: %j', (text, expected) => expect(cleanMarkdown(text)).toBe(expected));

  it.each([
    ['<script>x</script>', '\\<script>x\\</script>'],
    ['a <!-- b --> c <?d?> 1 < 2 <3', 'a \\<!-- b --> c \\<?d?> 1 < 2 <3'],
    ['\\<b> \\\\<b>', '\\<b> \\\\\\<b>'],
    ['`<b>` ``<b>`` `<b>', '`<b>` ``<b>`` `\\<b>'],
    ['\\`<b>`', '\\`\\<b>`'],
    ['# a `\n<b>\n`', '# a `\n\\<b>\n`'],
    ['| ` | <b> | ` |', '| ` | \\<b> | ` |'],
    ['<https://example.org/`> <b> `', '<https://example.org/`> \\<b> `'],
    ['<me@example.org>', '<me@example.org>'],
    ['```html\n<b>\n```\n<b>', '```html\n<b>\n```\n\\<b>'],
    ['> ```\n> <b>\n<i>', '> ```\n> <b>\n\\<i>'],
    ['- a\n\n  ```\n  <b>\n<i>', '- a\n\n  ```\n  <b>\n\\<i>'],
    ['1. a\n\n    ```\n    <b>\n    ```', '1. a\n\n    ```\n    <b>\n    ```'],
    ['a\n    ```\n    <b>', 'a\n    ```\n    \\<b>'],
    ['~~~ <b>\n<b>', '~~~ \\<b>\n<b>'],
  ])('and tags are text outside of code: %j', (text, expected) => expect(cleanMarkdown(text)).toBe(expected));

  it('removes citation marks', () => expect(cleanMarkdown('【1†a】 † 【b】')).toBe('〖1†a】 † 【b】'));

  it('contains no control character, not even the chunk separator', () => {
    expect(cleanMarkdown('a\u001db\u0000c\td')).toBe('a b c\td');
  });

  it('leaves no link that runs a script, whatever surrounds it', () => {
    const piece = fc.constantFrom(
      '[a]',
      '(',
      ')',
      'javascript:',
      '](',
      '<',
      '>',
      ' ',
      '\n',
      'x',
      '\\',
      '"',
      '![',
      '&#x6a;avascript:',
      '\t',
      '`',
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 24 }), (pieces) => {
        const text = cleanMarkdown(`text ${pieces.join('')}`);
        expect(text).not.toMatch(/[^\\]\]\(\s*<?(?:javascript|&#x6a;avascript):/i);
      }),
      { seed: 8, numRuns: 2_000 },
    );
  });

  it('handles long runs of everything that it matches', () => {
    for (const piece of [
      '](',
      '[a](javascript:',
      '[',
      '<a:',
      'href="',
      "href='",
      '[x]:',
      '&#x6a;',
      '```\n',
      '`<b|',
      '``<b`',
      '\\<b',
      '> ',
      '<think>',
      '\r',
    ]) {
      const text = piece.repeat(40_000);
      expect(cleanMarkdown(text).length).toBeGreaterThan(-1);
    }
  });
});
