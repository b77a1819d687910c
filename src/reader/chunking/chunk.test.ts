import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chunkMarkdown } from './chunk.ts';

const chunk = (content: string, strategy: string, title = 'Page') =>
  chunkMarkdown(content, { strategy, title }).map(({ text }) => text);

const CONTENT = `intro

# A

a text

## B

b text

### C

c text

# D

d text`;

describe('simple chunks', () => {
  it('start at every heading down to the given level', () => {
    expect(chunk(CONTENT, 'h1')).toEqual([
      'intro',
      '# A\n\na text\n\n## B\n\nb text\n\n### C\n\nc text',
      '# D\n\nd text',
    ]);
    expect(chunk(CONTENT, 'h2')).toEqual([
      'intro',
      '# A\n\na text',
      '## B\n\nb text\n\n### C\n\nc text',
      '# D\n\nd text',
    ]);
  });

  it('start at headings up to level four by default', () => {
    expect(chunk('#### a\n\nx\n\n##### b\n\ny', 'true')).toHaveLength(1);
    expect(chunk('#### a\n\nx\n\n#### b\n\ny', 'true')).toHaveLength(2);
    expect(chunk('#### a\n\nx\n\n##### b\n\ny', 'h5')).toHaveLength(2);
  });

  it('join the pieces of the last chunk by one newline', () => {
    expect(chunk('# a\n\nx\n\n## b\n\ny', 'h1')).toEqual(['# a\n\nx\n## b\n\ny']);
  });

  it('treat a heading on the very last line as text', () => {
    expect(chunk('# a\n\nx\n\n# b', 'h1')).toEqual(['# a\n\nx\n# b']);
  });

  it('are not split inside fences', () => {
    const fenced = '# a\n\n```sh\n# comment\n~~~\n# more\n```\n\n>     ````\n> # x\n> ````\n\n# b\n\ny';
    expect(chunk(fenced, 'h1')).toHaveLength(2);
    expect(chunk('# a\n\n``` not a fence `x`\n\n# b\n\ny', 'h1')).toHaveLength(2);
  });

  it('are empty for empty content', () => {
    expect(chunk('', 'h1')).toEqual([]);
    expect(chunk(' \n\n', 's2')).toEqual([]);
  });
});

describe('structured chunks', () => {
  it('carry the title and the headings above them', () => {
    expect(chunk(CONTENT, 's3')).toEqual([
      'intro',
      '# Page\n# A\n\na text',
      '# Page\n# A\n## B\n\nb text',
      '# Page\n# A\n## B\n### C\n\nc text',
      '# Page\n# D\n\nd text',
    ]);
  });

  it('repeat no line of the header', () => {
    expect(chunk('# Page\n\nx\n\n## B\n\ny', 's2')).toEqual(['# Page\n\nx', '# Page\n## B\n\ny']);
  });
});

describe('any content', () => {
  const line = fc.oneof(
    fc.constantFrom('', '# a', '## b', '###### c', '#no', '```', '```js', '~~~', '    # code', '> # q'),
    fc.stringMatching(/^[a-z ]{0,12}$/),
  );
  it('is completely in the chunks, in order', () => {
    fc.assert(
      fc.property(fc.array(line), fc.constantFrom('true', 'h1', 'h3', 'h9'), (lines, strategy) => {
        const content = lines.join('\n');
        const squeeze = (text: string) => text.replace(/\s+/g, '');
        expect(squeeze(chunk(content, strategy).join(''))).toBe(squeeze(content));
      }),
      { seed: 20_264 },
    );
  });
});
