/** Pages that could block a reader: endless, constantly changing or enormous. */
import { type Pages, sendHtml } from '../site.ts';

export const hostile: Pages = {
  /** The response never ends. */
  '/drip': ({ response }) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write('<!doctype html><title>Drip</title><p>The first drop.</p>');
    let drop = 0;
    const timer = setInterval(() => response.write(`<p>drop ${++drop}</p>`), 200);
    response.on('close', () => clearInterval(timer));
  },
  /** Accepts the connection and sends nothing. */
  '/silent': () => {},
  /** Never stops changing. */
  '/restless': `<!doctype html><title>Restless</title><p>Never at rest.</p><script>
setInterval(() => { const p = document.createElement('p'); p.textContent = 'tick'; document.body.append(p); if (document.body.children.length > 50) p.previousElementSibling.remove(); }, 50)</script>`,
  /** Never stops sending requests. */
  '/chatty': `<!doctype html><title>Chatty</title><p>Never silent.</p><script>setInterval(() => fetch('/slow?ms=10&' + Math.random()), 100)</script>`,
  '/hang':
    '<!doctype html><title>Hang</title><p>Before the hang.</p><script>while (true);</script><p>After the hang.</p>',
  '/hang-late':
    '<!doctype html><title>Hang</title><p>Before the hang.</p><script>setTimeout(() => { while (true); }, 600)</script>',
  '/hog':
    '<!doctype html><title>Hog</title><p>Before the hog.</p><script>setTimeout(() => { const all = []; while (true) all.push(new Array(1e6).fill({}).map((x) => ({ x }))); }, 700)</script>',
  '/buffers':
    '<!doctype html><title>Buffers</title><p>Before the buffers.</p><script>const all = []; setInterval(() => { const b = new Uint8Array(1e8); b.fill(1); all.push(b); }, 30)</script>',
  '/deep': ({ response }) =>
    sendHtml(response, `<!doctype html><title>Deep</title>${'<div>'.repeat(20_000)}the bottom`),
  '/deep-script': `<!doctype html><title>Deep</title><p>top</p><script>
let at = document.body; for (let n = 0; n < (Number(location.search.slice(1)) || 20000); n++) { const next = document.createElement('div'); at.append(next); at = next; } at.textContent = 'the bottom'</script>`,
  '/wide': ({ response }) => sendHtml(response, `<!doctype html><title>Wide</title>${'<i>x</i>'.repeat(20_000)}`),
  '/many-requests': `<!doctype html><title>Many</title><p>Asks too much.</p><script>
for (let n = 0; n < 200; n++) new Image().src = '/boat.svg?' + n</script>`,
  '/many-domains': `<!doctype html><title>Many</title><p>Asks too many.</p><script>
for (let n = 0; n < 50; n++) new Image().src = 'http://site-' + n + '.example-' + n + '.com/x.png'</script>`,
};
