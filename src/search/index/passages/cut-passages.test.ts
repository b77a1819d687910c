// Full run only: cuts large generated texts.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { markdownToPlainText } from '../text/plain-text.ts';
import { cutPassages } from './cut-passages.ts';

const seed = 20_264;

describe('passages', () => {
  it('are cut at headings and name those above them', () => {
    const text = 'Words that fill a passage well enough to stand alone. '.repeat(5);
    const content = `# A\n\n${text}\n\n## B\n\n${text}\n\n### C\n\n${text}\n\n## D\n\n${text}\n\n\`\`\`sh\n# no heading\n\`\`\``;
    expect(cutPassages(content, 100).map(({ heading }) => heading)).toEqual(['A', 'A > B', 'A > B > C', 'A > D']);
  });

  it('contain all words of any text in order, within the size limit', () => {
    const line = fc.oneof(
      fc.constantFrom(
        '',
        '# a',
        '## b c',
        '```',
        '~~~',
        'x '.repeat(900),
        '東京'.repeat(700),
        'y'.repeat(3_000),
        '😀'.repeat(999),
      ),
      fc.string({ maxLength: 40, unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        const content = lines.join('\n');
        const cuts = cutPassages(content, 10_000);
        const squeeze = (text: string) => text.replace(/\s+/g, '');
        expect(squeeze(cuts.map(({ start, end }) => content.slice(start, end)).join(''))).toBe(squeeze(content));
        // A single assertion covers all cuts, because there are many.
        const wrong = cuts.filter(
          ({ start, end }, at) =>
            end <= start ||
            (at > 0 && start < cuts[at - 1]!.end) ||
            (/[\ud800-\udbff]$/.test(content.slice(start, end)) && end < content.length),
        );
        expect(wrong).toEqual([]);
      }),
      { seed, numRuns: 80 },
    );
  });

  it('take linear time on long lines', () => {
    const content = `${'a'.repeat(1_000_000)}\n${'# '.repeat(100_000)}\n${'('.repeat(200_000)}`;
    expect(cutPassages(content, 2_000).length).toBeGreaterThan(1_000);
    expect(cutPassages(content, 7).length).toBe(7);
    expect(markdownToPlainText(`${'['.repeat(200_000)}${']('.repeat(100_000)}`).length).toBeLessThan(400_000);
  });
});
