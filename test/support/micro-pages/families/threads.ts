/** Comments and forum threads: every post with its author. */
import { type Part, type Shape, shape } from '../micro-page.ts';
import { people, remarks, sentences, times } from '../words.ts';

interface Post {
  readonly author: string;
  readonly text: string;
  readonly at: number;
}

const postsOf = (count: number, from: number, textAt = (at: number) => remarks(2, 2 * at).join(' ')): Post[] =>
  people(count, from).map((author, at) => ({ author, text: textAt(from + at), at }));

const partOf = (posts: readonly Post[], html: string): Part => ({
  html,
  keep: posts.flatMap(({ author, text }) => [author, text]),
});

const date = (at: number) => `<time datetime="2024-05-${String(10 + at).padStart(2, '0')}">May ${10 + at}, 2024</time>`;

export const THREADS: readonly Shape[] = [
  ...[3, 20].map((count) =>
    shape(`forum thread of ${count} posts`, `Which varnish lasts ${count} winters?`, (names) => {
      const posts = postsOf(count, count);
      const html = posts.map(
        ({ author, text, at }) =>
          `<article${names('post')} id="p${at}"><div${names('post', 'author')}><a href="/u/${at}">${author}</a></div><div${names('post', 'body')}><p>${text}</p></div></article>`,
      );
      return partOf(posts, `<div${names('thread')}>${html.join('\n')}</div>`);
    }),
  ),
  shape('question with answers', 'How do I stop a dripping gutter?', (names) => {
    const posts = postsOf(4, 30);
    const html = posts.map(
      ({ author, text, at }) =>
        `<div${names('answer')}><div${names('vote')}><span>${9 - at}</span></div><div${names('answer', 'text')}><p>${text}</p></div><div${names('user')}>answered by <a href="/users/${at}">${author}</a></div></div>`,
    );
    return partOf(posts, html.join('\n'));
  }),
  shape('nested replies', 'The pump is too loud', (names) => {
    const posts = postsOf(6, 60);
    const html = posts.reduceRight(
      (inner, { author, text }) =>
        `<li><div${names('comment')}><b>${author}</b><p>${text}</p></div>${inner && `<ul>${inner}</ul>`}</li>`,
      '',
    );
    return partOf(posts, `<ul${names('comments', 'tree')}>${html}</ul>`);
  }),
  shape('posts in a table', 'Anybody sailing on Sunday?', () => {
    const posts = postsOf(5, 90);
    const html = posts.map(
      ({ author, text, at }) => `<tr><td><b>${author}</b><br>Member</td><td>${date(at)}<div>${text}</div></td></tr>`,
    );
    return partOf(posts, `<table width="100%">${html.join('\n')}</table>`);
  }),
  shape('very short posts', 'Guess the place', (names) => {
    const texts = [
      'Heron Lake?',
      'No, further north.',
      'Is it a quay?',
      'Warm!',
      'Then Amber Cove.',
      'Yes, well done.',
    ];
    const posts = postsOf(6, 120, (at) => texts[at - 120]!);
    const html = posts.map(
      ({ author, text }) => `<div${names('message')}><strong>${author}</strong> <span>${text}</span></div>`,
    );
    return partOf(posts, html.join('\n'));
  }),
  shape(
    'Japanese thread',
    '渡し船の時間を教えてください',
    (names) => {
      const texts = sentences(3, 6, 'ja');
      const authors = ['山田', '佐藤', '鈴木'];
      const html = times(3, (at) => `<li${names('post')}><span>${authors[at]}</span><p>${texts[at]}</p></li>`);
      return { html: `<ol${names('posts')}>${html.join('\n')}</ol>`, keep: [...authors, ...texts] };
    },
    'ja',
  ),
];
