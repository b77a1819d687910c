import { describe, expect, it } from 'vitest';
import { renderHtml, taskFor } from './render.suite.ts';
import { render } from './render.ts';

const prose = '<p>This is a paragraph that tells at some length of the harbour and its boats.</p>'.repeat(15);
const script = '<script src="/app.js"></script>';

describe('a page that was not rendered', () => {
  const WARNING = /scripts of this page were not run/;

  it.each([
    ['an empty root', `<h1>The shop</h1><p>Welcome to our shop.</p><div id="root"></div>${script}`],
    ['placeholders', `<h1>Shop</h1><p>Welcome.</p>${'<i class="skeleton"></i>'.repeat(3)}${script}`],
    ['a note that scripts are needed', `<p>Welcome.</p><noscript>Please enable JavaScript.</noscript>${script}`],
  ])('has a warning if it seems to need its scripts: %s', (_, body) => {
    for (const respondWith of ['content', 'markdown', 'html', 'text'])
      expect(renderHtml(body, { respondWith }).page.warning, respondWith).toMatch(WARNING);
  });

  it.each([
    ['without scripts', '<h1>The shop</h1><p>Welcome.</p><div id="root"></div>'],
    ['with plenty to read', `<h1>The shop</h1>${prose}${script}`],
  ])('has no warning %s', (_, body) => expect(renderHtml(body).page.warning ?? '').not.toMatch(WARNING));

  it('has no warning if a browser rendered it or has yet to render it', () => {
    const task = taskFor(`<p>Welcome.</p><div id="root"></div>${script}`);
    for (const more of [{ engine: 'browser' }, { settled: false }] as const)
      expect(render({ ...task, snapshot: { ...task.snapshot, ...more } }).page.warning ?? '').not.toMatch(WARNING);
  });
});
