import { describe, expect, it } from 'vitest';
import type { OcrBlock, OcrListItem } from '../layout/layout.ts';
import { blocksToMarkdown } from './markdown.ts';

const lines: OcrBlock['lines'] = [];
const paragraph = (text: string): OcrBlock => ({ kind: 'paragraph', text, lines });
const item = (text: string, depth = 0, mark?: string): OcrListItem => ({ text, depth, mark });
const cell = (text: string, columns = 1, rows = 1) => ({ text, columns, rows });

describe('Markdown of what was read', () => {
  it('has headings, paragraphs and lists', () => {
    const blocks: OcrBlock[] = [
      { kind: 'heading', level: 2, text: 'Rivers', lines },
      paragraph('They run.'),
      { kind: 'list', items: [item('one', 0, '1.'), item('inner', 1), item('two', 0, '2.')], lines },
      { kind: 'list', items: [item('with letters', 0, '(b)')], lines },
    ];
    expect(blocksToMarkdown(blocks)).toBe('## Rivers\n\nThey run.\n\n1. one\n   - inner\n2. two\n\n- (b) with letters');
  });

  it('has tables, with empty cells where one spans', () => {
    const rows = [
      [cell('A | B', 2), cell('C')],
      [cell('tall', 1, 2), cell('1'), cell('2')],
      [cell('3'), cell('4')],
    ];
    expect(blocksToMarkdown([{ kind: 'table', rows, header: true, lines }])).toBe(
      '| A \\| B |  | C |\n| --- | --- | --- |\n| tall | 1 | 2 |\n|  | 3 | 4 |',
    );
    expect(blocksToMarkdown([{ kind: 'table', rows: [[cell('x'), cell('y')]], header: false, lines }])).toBe(
      '|  |  |\n| --- | --- |\n| x | y |',
    );
  });

  it.each([
    ['# 1 in the world', '\\# 1 in the world'],
    ['- 5 degrees', '\\- 5 degrees'],
    ['1984. A year', '1984\\. A year'],
    ['a * b * c [d](e)', 'a \\* b \\* c \\[d\\](e)'],
    ['_under_ snake_case', '\\_under\\_ snake_case'],
    ['<script> 3 < 4 &amp; x', '\\<script> 3 < 4 \\&amp; x'],
    ['> quoted', '\\> quoted'],
    ['`code` \\ ~~no~~', '\\`code\\` \\\\ \\~\\~no\\~\\~'],
  ])('takes signs for what they are: %s', (text, expected) => {
    expect(blocksToMarkdown([paragraph(text)])).toBe(expected);
  });
});
