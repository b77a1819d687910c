/** Pages whose content is created by scripts, immediately or later. */
import { type Pages, sendHtml } from '../site.ts';

export const scripted: Pages = {
  '/rendered': `<!doctype html><title>Loading</title><div id="root"></div><script>
fetch('/api/words').then((answer) => answer.json()).then((words) => {
  document.title = 'Rendered';
  root.innerHTML = '<h1>Rendered</h1>' + words.map((word) => '<p>' + word + '</p>').join('');
});</script>`,
  '/api/words': ({ response }) =>
    void setTimeout(
      () => response.writeHead(200, { 'content-type': 'application/json' }).end('["first word","second word"]'),
      150,
    ),

  '/late': `<!doctype html><title>Late</title><p>At once.</p><script>
setTimeout(() => document.body.insertAdjacentHTML('beforeend', '<p id="late">Much later.</p>'), 1500)</script>`,

  '/stages': `<!doctype html><title>Stages</title><p>stage 0</p><script>
let stage = 0; const next = () => { stage++; for (let n = 0; n < 20; n++) document.body.insertAdjacentHTML('beforeend', '<p>stage ' + stage + '</p>');
if (stage < 3) fetch('/slow?ms=500').then(next); }; fetch('/slow?ms=500').then(next);</script>`,

  '/slow': ({ response, url }) =>
    void setTimeout(
      () => response.writeHead(200, { 'content-type': url.searchParams.get('type') ?? 'text/plain' }).end('slow'),
      Number(url.searchParams.get('ms') ?? 500),
    ),

  '/slow-image': `<!doctype html><title>Slow image</title><p>Text is here.</p><img src="/slow?ms=1500&type=image/png" alt="slow"
onerror="document.title='Image failed'" onload="document.title='Image came'">`,

  '/lazy': `<!doctype html><title>Lazy</title>${Array.from(
    { length: 6 },
    (_, at) =>
      `<section style="height:1400px"><h2>Part ${at}</h2><img data-src="/boat.svg?${at}" alt="boat ${at}"><p class="fill"></p></section>`,
  ).join('')}<script>
const seen = new IntersectionObserver((entries) => { for (const { isIntersecting, target } of entries) if (isIntersecting) {
  target.querySelector('img').src = target.querySelector('img').dataset.src; target.querySelector('.fill').textContent = 'filled ' + target.querySelector('h2').textContent; seen.unobserve(target); } });
for (const section of document.querySelectorAll('section')) seen.observe(section);</script>`,

  '/shadow': `<!doctype html><title>Shadow</title><my-card><span slot="title">Slotted title</span>Slotted body<i slot="nowhere">lost</i></my-card><script>
customElements.define('my-card', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML =
'<style>h2{color:red}</style><h2><slot name="title">No title</slot></h2><div><slot></slot></div><p>From the shadow</p><inner-part></inner-part>'; } });
customElements.define('inner-part', class extends HTMLElement { connectedCallback() { this.attachShadow({ mode: 'open' }).innerHTML = '<em>Deeper</em>'; } });</script>`,

  '/overlay': `<!doctype html><title>Overlay</title><h1>Under the overlay</h1><p>The text that matters.</p>
<div id="wall" style="position:fixed;inset:0;background:#0008;z-index:9"></div>
<div><div id="banner" style="position:fixed;left:25%;top:25%;width:50%;height:50%;background:#fff;z-index:10"><p>We value your cookies</p><button>Accept</button></div></div>`,

  '/popup': `<!doctype html><title>Popups</title><p>Has popups.</p><script>
for (let n = 0; n < 5; n++) window.open('/article?popup=' + n); document.body.append('opened')</script>`,

  '/alert': `<!doctype html><title>Alert</title><script>alert('one'); const sure = confirm('two'); const name = prompt('three');
document.addEventListener('DOMContentLoaded', () => { document.body.insertAdjacentHTML('beforeend', '<p>After ' + sure + ' ' + name + '</p>'); print(); });
addEventListener('beforeunload', (event) => { event.preventDefault(); event.returnValue = 'stay'; });</script><p>Alerts.</p>`,

  '/worker-page': `<!doctype html><title>Worker</title><p id="state">no word</p><script>
(navigator.serviceWorker ? navigator.serviceWorker.register('/worker.js') : Promise.reject()).then(() => navigator.serviceWorker.ready)
.then(() => { state.textContent = 'registered'; }, () => { state.textContent = 'refused'; });</script>`,
  '/worker.js': ({ response }) =>
    void response
      .writeHead(200, { 'content-type': 'text/javascript' })
      .end("self.addEventListener('fetch', (event) => event.respondWith(new Response('from the worker')));"),

  '/no-eval': ({ response }) =>
    void response
      .writeHead(200, {
        'content-type': 'text/html',
        'content-security-policy': "default-src 'none'; script-src 'none'",
      })
      .end('<!doctype html><title>Strict</title><p id="a">Strict page.</p>'),

  '/pushed': `<!doctype html><title>Pushed</title><p>Pushed.</p><script>history.pushState(null, '', '/pushed/into?view=2')</script>`,

  '/overriding': ({ response }) =>
    sendHtml(
      response,
      `<!doctype html><title>Overriding</title><p>Honest text.</p><script>
const lie = () => 'LIE'; const fail = () => { throw new Error('no') };
for (const name of ['outerHTML', 'innerHTML', 'textContent', 'attributes', 'localName']) { try { Object.defineProperty(Element.prototype, name, { get: lie }); } catch {} }
for (const name of ['firstChild', 'nextSibling', 'nodeType', 'nodeValue']) Object.defineProperty(Node.prototype, name, { get: fail });
document.querySelector = document.querySelectorAll = Document.prototype.querySelector = fail; Array.prototype.push = fail; Array.prototype.join = lie; String.prototype.replace = lie;
window.getComputedStyle = fail; JSON.stringify = lie; globalThis.MutationObserver = null; globalThis.performance = null;</script>`,
    ),
};
