import { describe, expect, it } from 'vitest';
import { find } from '#html/node.ts';
import { parseDocument } from '#html/parse.ts';
import { createClassReader } from '../blocks/class-words.ts';
import { type Survey, survey } from '../blocks/survey.ts';
import { isCommentHeading } from './comment-headings.ts';
import { findCommentSections, isCommentControl } from './comments.ts';

const PROSE = '<p>The harbour office counted the boats, and found two more than had left.</p>';
const ARTICLE = `<main><h1>Boats</h1>${PROSE.repeat(5)}`;

function surveyOf(html: string): Survey {
  const document = parseDocument(html);
  return survey(find(document, 'body')!, createClassReader());
}

/** The text of each section, its blocks joined by a slash. */
function sectionsOf(html: string, isThread = false): string[] {
  const surveyed = surveyOf(html);
  return findCommentSections(surveyed, () => isThread).map(({ firstBlock, endBlock }) =>
    surveyed.blocks
      .slice(firstBlock, endBlock)
      .map(({ text }) => text)
      .join(' / '),
  );
}

describe('findCommentSections', () => {
  it.each([
    ['a class', '<div class="comments-area"><p>Ada</p><p>Two?</p></div>'],
    ['an id', '<section id="disqus_thread"><p>Ada</p><p>Two?</p></section>'],
    ['a class in another language', '<ol class="kommentarliste"><li>Ada<li>Two?</ol>'],
    ['itemprop', '<div itemprop="comment"><p>Ada</p><p>Two?</p></div>'],
    ['itemtype', '<div itemtype="https://schema.org/UserComments"><p>Ada</p><p>Two?</p></div>'],
    ['a custom element', '<reader-comments><p>Ada</p><p>Two?</p></reader-comments>'],
    [
      'an element inside others',
      '<div class="post-comments"><ol><li class="comment">Ada<li class="comment">Two?</ol></div>',
    ],
  ])('finds the outermost section by %s', (_, html) => {
    expect(sectionsOf(`${ARTICLE}${html}</main><footer>Imprint</footer>`)).toEqual(['Ada / Two?']);
  });

  it('finds a section by its heading, in its element or among its siblings', () => {
    expect(sectionsOf(`${ARTICLE}<div><h3>2 comments</h3><div>Ada</div><div>Two?</div></div></main>`)).toEqual([
      '2 comments / Ada / Two?',
    ]);
    const flat = `<h2>2 comments</h2><div>Ada</div><h3>Reply</h3><p>Two?</p><h2>Other boats</h2><p>Oars</p>`;
    expect(sectionsOf(`${ARTICLE}${flat}</main>`)).toEqual(['2 comments / Ada / Reply / Two?']);
    expect(sectionsOf(`${ARTICLE}<h2>2 comments</h2><p>Ada</p><footer>Imprint</footer></main>`)).toEqual([
      '2 comments / Ada',
    ]);
  });

  it.each([
    ['the body', `<body class="comments-page">${ARTICLE}</body>`],
    ['an element with the title', `<body><div class="comments-open-post comment">${ARTICLE}</div>${PROSE}</body>`],
    ['most of the page', `<body><p>Boats</p><div class="comments">${PROSE.repeat(12)}</div></body>`],
    ['the state of the comments', `<body>${ARTICLE}<div class="has-comments">${PROSE}</div></body>`],
    ['a category', `<body>${ARTICLE}<div class="category-comment">${PROSE}</div></body>`],
    ['an opinion piece', `<body>${ARTICLE}<div class="commentary">${PROSE}</div></body>`],
    ['a color', `<body>${ARTICLE}<div class="bg-coral coral">${PROSE}</div></body>`],
    ['a reference', `<body>${ARTICLE}<div class="tsd-comment">${PROSE}</div></body>`],
    ['code', `<body>${ARTICLE}<pre><div class="comment">// two</div></pre></body>`],
    ['a line', `<body>${ARTICLE}<p class="comment">Two</p><span class="comment">Two</span></body>`],
    ['a chapter of a manual', `<body>${ARTICLE}<h2>Comments</h2>${PROSE}</body>`],
  ])('does not find %s', (_, html) => expect(sectionsOf(html)).toEqual([]));

  it('finds most of the page on a thread', () => {
    const html = `<body><p>Boats</p><div class="comments">${PROSE.repeat(12)}</div></body>`;
    expect(sectionsOf(html, true)).toHaveLength(1);
  });
});

describe('isCommentHeading', () => {
  it.each([
    '12 comments',
    '1 Comment',
    '6 thoughts on “Old cannery”',
    'Comments (1,204)',
    'Leave a Reply',
    'Schreibe einen Kommentar',
    '27 commentaires',
    'コメントを残す',
    '3 Kommentare',
  ])('accepts %s', (text) => expect(isCommentHeading(text)).toBe(true));

  it.each(['Comments', '5 responses to climate change', 'Comment on the budget', 'Leave a light on', '3 commentators'])(
    'refuses %s',
    (text) => expect(isCommentHeading(text)).toBe(false),
  );
});

describe('isCommentControl', () => {
  const controls = (html: string) => {
    const surveyed = surveyOf(`${ARTICLE}<div class="comments"><p>Start</p>${html}<p>End</p></div></main>`);
    const [section] = findCommentSections(surveyed, () => false);
    return surveyed.blocks
      .slice(section!.firstBlock, section!.endBlock)
      .filter((block) => isCommentControl(surveyed, block, section!))
      .map(({ text }) => text);
  };

  it.each([
    ['<form><p>Your email address</p></form>', 'Your email address'],
    ['<button>Post it</button>', 'Post it'],
    ['<div role="button">More of it</div>', 'More of it'],
    ['<div><a href="/reply">Reply</a></div>', 'Reply'],
    ['<div><a href="/l">Like</a></div>', 'Like'],
    ['<div class="share-bar">Tell friends</div>', 'Tell friends'],
    ['<div class="newsletter">Letters weekly</div>', 'Letters weekly'],
  ])('recognizes %s', (html, text) => expect(controls(html)).toEqual([text]));

  it.each([
    '<p>Thanks!</p>',
    '<h3>2 comments</h3>',
    '<div><a href="/ada">Ada</a></div>',
    '<div class="comment-author guest">Ada</div>',
    '<time>May 2, 2024 at 9:14 am</time>',
    '<div class="comment-content"><p>I like it, and reply.</p></div>',
  ])('does not recognize %s', (html) => expect(controls(html)).toEqual([]));
});
