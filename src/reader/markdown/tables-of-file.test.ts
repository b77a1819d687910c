import { expect, it } from 'vitest';
import { taskFor } from '../render.suite.ts';
import { render } from '../render.ts';

const HTML =
  '<table><tr><td>Port</td><td></td><td>Ships</td><td></td></tr><tr><td></td><td></td><td></td><td></td></tr>' +
  '<tr><td>North</td><td></td><td>12</td><td></td></tr></table>';

const markdownOf = (mediaType: string | undefined, html: string) => {
  const task = taskFor(html);
  const document = mediaType && { title: 'Ports', mediaType, metadata: {}, hiddenCount: 0 };
  return render({ ...task, snapshot: { ...task.snapshot, ...(document && { document }) } }).page.content;
};

it('keeps empty rows and columns inside the tables of a text document', () => {
  expect(markdownOf('application/rtf', HTML)).toBe(
    '|  |  |  |\n| --- | --- | --- |\n| Port |  | Ships |\n|  |  |  |\n| North |  | 12 |',
  );
});

it('omits a column that only merged cells cover', () => {
  const html =
    '<table><tr><td colspan="2">Port</td><td>Ships</td></tr><tr><td colspan="2">North</td><td>12</td></tr></table>';
  expect(markdownOf('application/rtf', html)).toBe('|  |  |\n| --- | --- |\n| Port | Ships |\n| North | 12 |');
});

it('keeps a table of a text document with long cells', () => {
  const html = `<table><tr><td>Port</td><td>Report</td></tr><tr><td>North</td><td>${'calm sea '.repeat(200)}</td></tr></table>`;
  expect(markdownOf('application/rtf', html)).toContain('| North | calm sea');
  expect(markdownOf('application/epub+zip', html)).not.toContain('|');
});
