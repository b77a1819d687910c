/** The option `comments`, and the warning about text that was left out of the content. */
import { describe, expect, it } from 'vitest';
import { renderHtml } from './render.suite.ts';

const PROSE = [
  'The cannery on the north quay, shut since 1989, will open again in September with forty stalls and a fish counter.',
  'The council voted nine to four on Tuesday night, after a debate of three hours about rent, drains and the tide.',
  'Rent for the first year is free for anyone who sells what they grew, caught or baked within a day of the harbour.',
  'The roof will be mended before winter, said the surveyor, who has climbed it twice and does not plan to do it again.',
];
const COMMENTS = [
  'I worked there until the last tin, and I can tell you that the whistle was never sold with the building.',
  'Would he lend it for the opening? We could borrow a compressor from the tyre shop, which has the same thread.',
  'With respect, the report forgets the drains, on which every plan for that quay since the war has failed.',
];
const comment = (text: string, at: number) =>
  `<li class="comment"><div class="comment-author"><b>Reader ${'ABC'[at]}</b></div><time>May ${at + 2}, 2024</time>
<div class="comment-content"><p>${text}</p></div><div class="reply"><a href="?to=${at}">Reply</a></div></li>`;
const paragraphs = (texts: readonly string[]) => texts.map((text) => `<p>${text}</p>`).join('');

const page = ({ prose = PROSE, comments = COMMENTS, type = 'NewsArticle' } = {}) =>
  `<!doctype html><html lang="en"><head><title>Old cannery</title>
<script type="application/ld+json">{"@context":"https://schema.org","@type":"${type}","headline":"Old cannery"}</script></head>
<body><nav><a href="/">News</a> <a href="/b">Tides</a></nav><main><article><h1>Old cannery</h1>${paragraphs(prose)}
<section id="comments"><h2>3 comments</h2><ol class="comment-list">${comments.map(comment).join('')}</ol>
<form><p>Your email address will not be published</p><button>Post comment</button></form></section></article></main>
<footer>Printed on Thursdays</footer></body></html>`;

/** A page whose comments only a heading marks: they read like the rest of the text. */
const plainPage = (type: string) =>
  page({ type, comments: [] }).replace(
    /<section id="comments">[\s\S]*<\/section>/,
    `<h2>3 comments</h2>${paragraphs(COMMENTS)}`,
  );

const contentOf = (html: string, comments?: 'keep' | 'drop') =>
  renderHtml(html, comments ? { comments } : {}).page.content!;

describe('comments under an article', () => {
  it('are removed by default, and listed in the explanation', () => {
    const html = plainPage('NewsArticle');
    const { content, explanation } = renderHtml(html, { explain: true }).page;
    for (const text of PROSE) expect(content).toContain(text);
    for (const text of COMMENTS) expect(content).not.toContain(text);
    const removed = explanation!.removed.filter(({ step }) => step === 'comments');
    expect(removed.map(({ text }) => text)).toEqual([
      '3 comments',
      ...COMMENTS.map((text) => expect.stringContaining(text.slice(0, 90))),
    ]);
    expect(removed[0]!.rule).toBe('comments below an article or a video');
    for (const text of COMMENTS) expect(contentOf(html, 'keep')).toContain(text);
  });

  it('are kept on request with author and date, without forms and buttons', () => {
    const content = contentOf(page(), 'keep');
    for (const text of [...PROSE, ...COMMENTS, 'Reader A', 'May 3, 2024', '3 comments'])
      expect(content).toContain(text);
    expect(content).not.toMatch(/email address|Post comment|Reply|Thursdays/);
  });

  it('are not removed by default if the article goes on after them', () => {
    const quoted = `<div class="comments">${paragraphs(COMMENTS)}</div>`;
    const inside = page({ comments: [] }).replace(
      /<section id="comments">[\s\S]*<\/section>/,
      `${quoted}${paragraphs(PROSE)}`,
    );
    for (const text of COMMENTS) expect(contentOf(inside)).toContain(text);
    for (const text of COMMENTS) expect(contentOf(inside, 'drop')).not.toContain(text);
  });

  it('are the only part that a request removes if the article is short', () => {
    const short = page({
      prose: ['The cannery opens again in May.'],
      comments: [...COMMENTS, ...COMMENTS, ...COMMENTS],
    });
    const kept = contentOf(short, 'keep');
    for (const text of COMMENTS) expect(kept).toContain(text);
    expect(contentOf(short, 'drop')).toContain('opens again');
    for (const text of COMMENTS) expect(contentOf(short, 'drop')).not.toContain(text);
  });
});

describe('comments on a thread', () => {
  const thread = plainPage('DiscussionForumPosting');

  it('are not changed by default', () => {
    for (const text of COMMENTS) expect(contentOf(thread)).toContain(text);
  });

  it('are removed on request, with the reason', () => {
    const { content, explanation } = renderHtml(thread, { comments: 'drop', explain: true }).page;
    for (const text of COMMENTS) expect(content).not.toContain(text);
    const rules = explanation!.removed.filter(({ step }) => step === 'comments').map(({ rule }) => rule);
    expect(new Set(rules)).toEqual(new Set(['comments is drop']));
  });
});

it('a page of comments only is not emptied', () => {
  const html = `<body><div class="comments">${paragraphs(COMMENTS)}</div></body>`;
  for (const comments of ['keep', 'drop'] as const) expect(contentOf(html, comments)).toContain(COMMENTS[0]);
});

it.each([
  [{ respondWith: 'html' }, 'the response has no Markdown'],
  [{ respondWith: 'markdown' }, 'the whole page is returned'],
  [{ targetSelector: ['article'] }, 'elements that targetSelector matches are returned whole'],
])('comments has no effect with %j', (given, why) => {
  expect(renderHtml(page(), { comments: 'drop', ...given }).page.warning).toContain(`comments has no effect: ${why}.`);
});

describe('the warning about text that was left out', () => {
  const WARNING = /^(\d+) words next to the content of this page were left out/m;
  const many = page({ comments: Array.from({ length: 12 }, (_, at) => COMMENTS[at % 3]!) });

  it('counts the words, and those in comments', () => {
    const { warning } = renderHtml(many).page;
    expect(warning).toMatch(
      /^\d+ words next to the content of this page were left out, \d+ of them in comments: `explain` lists them, `comments: keep` returns comments\.$/m,
    );
    expect(Number(WARNING.exec(warning!)![1])).toBeGreaterThan(200);
  });

  it('is absent if little was left out, if the caller removed the comments, and without Markdown', () => {
    expect(renderHtml(page()).page.warning ?? '').not.toMatch(WARNING);
    expect(renderHtml(many, { comments: 'drop' }).page.warning ?? '').not.toMatch(WARNING);
    expect(renderHtml(many, { comments: 'keep' }).page.warning ?? '').not.toMatch(WARNING);
    for (const respondWith of ['text', 'html', 'markdown'])
      expect(renderHtml(many, { respondWith }).page.warning ?? '').not.toMatch(WARNING);
  });
});
