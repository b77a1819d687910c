/** Pages for the tests of options that need the browser. */
import { type Pages, sendHtml, type Visited } from '../site/site.ts';

/** Requests that are not answered until a test releases them, keyed by the query of their URL. */
export interface Held {
  readonly pages: Pages;
  /** Number of pending requests. */
  waiting(query: string): number;
  release(query: string): void;
}

/** A request for `/held?<query>` waits until the test releases the query. The response is then a style sheet. */
export function createHeld(): Held {
  const waiting = new Map<string, Visited[]>();
  const of = (query: string) => waiting.get(query) ?? [];
  return {
    pages: {
      '/held': (visited) =>
        void waiting.set(visited.url.search.slice(1), [...of(visited.url.search.slice(1)), visited]),
    },
    waiting: (query) => of(query).length,
    release(query) {
      for (const { response } of of(query))
        response.writeHead(200, { 'content-type': 'text/css' }).end('p { color: red }');
      waiting.delete(query);
    },
  };
}

const add = "const add = (text) => document.body.insertAdjacentHTML('beforeend', '<p>' + text + '</p>');";
/** Long enough to count as the main content. */
const CONTENT = `<h1>At once</h1>${'<p>This sentence is in the document as it comes from the server, and it is content.</p>'.repeat(8)}`;

export const browserPages: Pages = {
  '/sets': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'text/html', 'set-cookie': ['seen=1; Path=/', 'locked=2; HttpOnly'] })
      .end('<title>Sets</title><p>Words of a page.</p><script>localStorage.setItem("mood", "calm")</script>'),
  '/mood':
    '<title>Mood</title><p id="m">none</p><script>m.textContent = "Mood: " + localStorage.getItem("mood") + "; " + document.cookie</script>',
  '/language':
    '<title>Language</title><p id="l"></p><script>l.textContent = "Language: " + navigator.language</script>',
  '/detached': `<title>Detached</title><p>Seen paragraph.</p><p id="x" style="display:none">Not displayed.</p><p id="after"></p><script>
setTimeout(() => { after.textContent = document.getElementById('x')?.isConnected ? 'It is still in the page.' : 'It is gone.' }, 600)</script>`,
  '/framed': `<title>Framed</title><p>Outside.</p><iframe src="/framed/inner"></iframe>`,
  '/framed/inner': '<title>Inner</title><p>Inside the frame.</p>',
  '/inject.js': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'text/javascript' })
      .end('addEventListener("DOMContentLoaded", () => document.body.append("Injected by URL."))'),
  '/resources': ({ response, otherOrigin }) =>
    sendHtml(
      response,
      `<title>Resources</title><link rel="stylesheet" href="${otherOrigin}/style.css"><p>Text.</p><img src="${otherOrigin}/boat.svg">`,
    ),
  '/resources/script': ({ response, otherOrigin }) =>
    sendHtml(
      response,
      `<title>Resources</title><link rel="stylesheet" href="${otherOrigin}/style.css"><script src="${otherOrigin}/app.js"></script><p>Text.</p><img src="${otherOrigin}/boat.svg">`,
    ),
  '/style.css': ({ response }) => void response.writeHead(200, { 'content-type': 'text/css' }).end('p { color: red }'),
  '/app.js': ({ response }) => void response.writeHead(200, { 'content-type': 'text/javascript' }).end('window.x = 1'),

  // This page changes all the time, and one of its requests stays pending.
  '/timing/restless': `<title>Restless</title>${CONTENT}<script>${add} fetch('/held?restless').then(() => add('Fetched.'));
setInterval(() => add('more'), 60)</script>`,
  '/timing/mutations': `<title>Mutations</title>${CONTENT}<script>${add} fetch('/held?mutations').then(() => add('Fetched.'));
let n = 0; const timer = setInterval(() => { add('Change ' + ++n); if (n === 8) clearInterval(timer) }, 60)</script>`,
  '/timing/fetch': `<title>Fetch</title>${CONTENT}<script>${add} fetch('/held?fetch').then(() => add('Fetched.'));
const style = Object.assign(document.createElement('link'), { rel: 'stylesheet', href: '/held?style' });
style.onload = () => add('Styled.'); document.head.append(style)</script>`,
  '/timing/style': `<title>Style</title>${CONTENT}<script>${add}</script><link rel="stylesheet" href="/held?media" onload="add('Styled.')">`,
  '/timing/all': `<title>All</title>${CONTENT}<script>${add} addEventListener('load', () => fetch('/held?all').then(() => add('Fetched.')))</script>`,
};
