import { describe, expect, it } from 'vitest';
import { taskFor } from './render.suite.ts';
import { render } from './render.ts';

/** The Markdown of a file with this title and HTML. */
function markdownOf(title: string, html: string): string {
  const task = taskFor(html, { respondWith: 'markdown' });
  const document = { title, mediaType: 'application/rtf', metadata: {}, hiddenCount: 0 };
  return render({ ...task, snapshot: { ...task.snapshot, document } }).page.content!;
}

describe('the title of a file', () => {
  it('is written before the content', () => {
    expect(markdownOf('Tides', '<p>High water is at noon.</p>')).toBe('# Tides\n\nHigh water is at noon.');
  });

  it('is not written if the content begins with it', () => {
    expect(markdownOf('Tides', '<h2>Tides</h2><p>Noon.</p>')).toBe('## Tides\n\nNoon.');
    expect(markdownOf('Tides of 2020', '<p><b>TIDES</b><br>of 2020.</p><p>Noon.</p>')).toBe(
      '**TIDES**  \nof 2020.\n\nNoon.',
    );
    expect(markdownOf('Tides', '<p>Tides<br>of 2020</p>')).toBe('Tides  \nof 2020');
    expect(markdownOf('Tides', '<p>Tides<sup><a href="#fn-1">1</a></sup></p><ol><li id="fn-1">Note</li></ol>')).toMatch(
      /^Tides\[\^1\]/,
    );
  });

  it('is not written if it is among the first blocks', () => {
    expect(markdownOf('Tides', '<p>Port office</p><table><tr><td>Tides</td></tr></table><p>Noon.</p>')).not.toContain(
      '# Tides',
    );
  });

  it('is written if the content only mentions it, or shows it later', () => {
    expect(markdownOf('Tides', '<p>Tides of the sea</p>')).toMatch(/^# Tides\n/);
    expect(markdownOf('Tides', `<p>${'water '.repeat(200)}</p><h1>Tides</h1>`)).toMatch(/^# Tides\n/);
    expect(markdownOf('— ? —', '<p>…</p>')).toMatch(/^# — \? —\n/);
  });
});

it('writes the title of a web page as before', () => {
  const html = '<title>Tides</title><h1>Tides</h1><p>Noon.</p>';
  expect(render(taskFor(html, { respondWith: 'markdown' })).page.content).toBe('# Tides\n\n# Tides\n\nNoon.');
});
