/** The details of a read: facts about the response, and the HTML of the content; and reads of only the content. */
import { expect, it } from 'vitest';
import { taskFor } from './render.suite.ts';
import { render } from './render.ts';

const TEXT = 'Bees find their way home by the sun and by the smell of their hive. '.repeat(8);
const PAGE = `<title>Bees</title><nav><a href="/wasps">Wasps</a></nav>
  <main><h1>Bees</h1><p class="x" onclick="y()">${TEXT}<a href="hive">Hive</a></p><script>z()</script></main>`;

it('has the HTML of the content, with absolute URLs and without scripts', () => {
  const { contentHtml } = render({ ...taskFor(PAGE), details: 'html' }).details!;
  expect(contentHtml).toContain('<a href="https://example.org/hive">Hive</a>');
  expect(contentHtml).toContain(TEXT.trim());
  expect(contentHtml).not.toMatch(/script|onclick|class|Wasps/);
});

it('has the whole page if it was requested whole', () => {
  const task = taskFor(PAGE, { respondWith: 'markdown' });
  expect(render({ ...task, details: 'html' }).details!.contentHtml).toContain('Wasps');
});

it('has only facts, or nothing, if nothing else was asked for', () => {
  const task = taskFor(PAGE);
  const snapshot = { ...task.snapshot, cachedAt: 5 };
  expect(render({ ...task, snapshot, details: 'facts' }).details).toEqual({ mediaType: 'text/html', cachedAt: 5 });
  expect(render(task).details).toBeUndefined();
});

it('has the same content without body, warnings and tokens if only the content is needed', () => {
  const { snapshot, ...rest } = taskFor('<title>Bees</title><main><h1>Bees</h1><p>They fly.</p></main>');
  const task = { ...rest, snapshot: { ...snapshot, notes: ['A note.'] } };
  const whole = render(task);
  expect(whole.page.warning).toBeDefined();
  const { page, body, tokens } = render({ ...task, contentOnly: true });
  const { warning: _, usage, ...same } = whole.page;
  expect(usage.tokens).toBeGreaterThan(0);
  expect(page).toEqual({ ...same, usage: { tokens: 0 } });
  expect({ body, tokens }).toEqual({ body: '', tokens: 0 });
});
