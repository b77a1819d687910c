/** Pages without scripts, and responses that are not web pages. */
import { type Pages, sendHtml } from '../site.ts';

const paragraph = (about: string) =>
  `<p>${about} keeps its own hours. People who live nearby know when to come, what to bring, and whom to ask when the door is shut, and they tell it to those who are new.</p>`;

export const documents: Pages = {
  '/': '<!doctype html><title>The site</title><h1>The site</h1><p>Start with <a href="/article">the article</a>.</p>',

  '/article': `<!doctype html><html lang="en"><head><title>The harbour at night</title>
<meta name="description" content="What goes on when the boats are in."></head><body>
<nav><a href="/">Home</a> <a href="/list">List</a></nav>
<article><h1>The harbour at night</h1>${paragraph('The harbour')}${paragraph('The lighthouse')}
<h2>The market</h2>${paragraph('The market')}<ul><li>Herring</li><li>Mackerel</li></ul>
<p>More in <a href="/list?page=2">the list</a>. <img src="/boat.svg" alt="A boat"></p></article>
<footer>Nobody in particular</footer></body></html>`,

  '/boat.svg': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'image/svg+xml' })
      .end('<svg xmlns="http://www.w3.org/2000/svg" width="40" height="30"><rect width="40" height="30"/></svg>'),

  '/missing': ({ response }) =>
    sendHtml(
      response,
      '<!doctype html><title>Gone fishing</title><h1>Gone fishing</h1><p>This page was moved.</p>',
      404,
    ),

  '/dated': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'text/html', 'last-modified': 'Tue, 03 Mar 2026 10:00:00 GMT' })
      .end('<!doctype html><title>Dated</title><p>This has a date.'),

  '/form': `<!doctype html><title>A form</title><form action="/form" method="post"><label>Name <input name="firstChild" value="x"></label>
<textarea name="attributes">typed</textarea><select name="nextSibling"><option>one<option selected>two</select><button>Send</button></form><p>After the form`,

  '/hidden': `<!doctype html><title>Hidden and seen</title><style>.off{position:absolute;left:-9999px}.reader{position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)}</style>
<h1>Seen heading</h1><p>Seen paragraph.</p>
<p style="display:none">by display</p><div style="visibility:hidden">by visibility <b style="visibility:visible">seen inside</b></div>
<p style="opacity:0">by opacity</p><p class="off">by place</p><p class="reader">by clip</p><p style="font-size:0">by size</p>
<p style="color:#fff">by colour</p><p style="color:transparent">by transparency</p><p style="text-indent:-9999px">by indent</p>
<details><summary>Seen summary</summary><p>seen when opened</p></details>
<div style="background:#000"><p style="color:#fff">seen white on black</p></div>
<div style="background-image:linear-gradient(#000,#000)"><p style="color:#fff">seen on a picture</p></div>
<div style="height:3000px"></div><p>seen below the fold</p>`,

  '/data.json': ({ response }) =>
    void response.writeHead(200, { 'content-type': 'application/json' }).end('{"name": "Ünal", "list": [1, 2, 3]}'),
  '/plain.txt': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'text/plain; charset=utf-8' })
      .end('plain <b>text</b>\nsecond line\n'),
  '/feed.xml': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'application/xml' })
      .end('<?xml version="1.0"?><feed><entry>one</entry></feed>'),
  '/page.xhtml': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'application/xhtml+xml' })
      .end(
        '<html xmlns="http://www.w3.org/1999/xhtml"><head><title>Strict</title></head><body><p>strict text<br/></p></body></html>',
      ),
  '/picture.png': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'image/png' })
      .end(
        Buffer.from(
          'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
          'base64',
        ),
      ),
  '/paper.pdf': ({ response }) =>
    void response.writeHead(200, { 'content-type': 'application/pdf' }).end('%PDF-1.4\n%%EOF'),
  '/download': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'application/zip', 'content-disposition': 'attachment; filename="a.zip"' })
      .end('PK'),

  '/protected': ({ request, response }) =>
    request.headers.authorization
      ? sendHtml(response, '<title>Inside</title>inside')
      : void response
          .writeHead(401, { 'content-type': 'text/html', 'www-authenticate': 'Basic realm="door"' })
          .end('<!doctype html><title>Who is there</title><p>Say who you are.'),

  '/echo': ({ request, response }) =>
    sendHtml(
      response,
      `<!doctype html><title>Echo</title><pre id="headers">${JSON.stringify(request.headers).replaceAll('<', '&lt;')}</pre>
<p id="navigator"></p><script>document.getElementById('navigator').textContent = JSON.stringify({language: navigator.language, agent: navigator.userAgent, brands: (navigator.userAgentData || {}).brands, cookie: document.cookie, referrer: document.referrer, size: innerWidth + 'x' + innerHeight, fresh: localStorage.getItem('seen') === null}); localStorage.setItem('seen', '1')</script>`,
    ),
};
