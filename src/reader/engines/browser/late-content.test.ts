// Full run only: starts a browser.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Bench, startBench } from './browser.suite.ts';

/** Adds what a page must show to its body, so that the text is not in its source. */
const ADD = `const add = () => document.body.append('late ' + 'content');`;
const page = (body: string, head = '') =>
  `<!doctype html><html lang="en"><head><title>Late</title>${head}</head><body><h1>Early</h1>${body}</body></html>`;
const script = (body: string, attributes = '') => `<script ${attributes}>${ADD} ${body}</script>`;

/** Ways in which content comes after the HTML of a page, each of which a read has to wait for. */
const LATE: Readonly<Record<string, string>> = {
  '/at-once': page(script('add();')),
  '/script-that-removes-itself': page(script('document.currentScript.remove(); setTimeout(add, 250);')),
  '/timeout-100': page(script('setTimeout(add, 100);')),
  '/timeout-300': page(script('setTimeout(add, 300);')),
  '/timeout-2000': page(script('setTimeout(add, 2000);')),
  '/timeout-2000-after-one-each-50': page(
    script(`setInterval(() => document.querySelector('h1').append('.'), 50); setTimeout(add, 2000);`),
  ),
  '/timeout-after-an-image-that-never-comes': page(`<img src="/never" alt="">${script('setTimeout(add, 2000);')}`),
  '/fetch-after-a-timeout': page(
    script(`setTimeout(() => fetch('/data').then((answer) => answer.text()).then(() => setTimeout(add, 400)), 1500);`),
  ),
  '/animation': page(script(`document.body.animate([{ opacity: 0 }, { opacity: 1 }], 300).finished.then(add);`)),
  '/transition': page(
    `<style>h1 { transition: opacity 600ms; } .shown { opacity: 0.5; }</style>${script(`setTimeout(() => {
      document.querySelector('h1').classList.add('shown'); addEventListener('transitionend', add); }, 800);`)}`,
  ),
  '/busy-wait': page(
    script(`setTimeout(() => { const end = Date.now() + 300; while (Date.now() < end); add(); }, 300);`),
  ),
  '/database': page(script(`setTimeout(() => { indexedDB.open('late').onsuccess = add; }, 1000);`)),
  '/location': page(script(`setTimeout(() => location.replace('/arrived'), 1000);`)),
  '/refresh-after-2': page('', '<meta http-equiv="refresh" content="2; url=/arrived">'),
  '/timeouts': page(script('setTimeout(() => setTimeout(() => setTimeout(add, 100), 100), 100);')),
  '/idle-callback': page(script('requestIdleCallback(add);')),
  '/animation-frame': page(script('requestAnimationFrame(() => requestAnimationFrame(add));')),
  '/fetch-chain': page(
    script(`fetch('/data?1').then((answer) => answer.text()).then(() => fetch('/data?2'))
      .then((answer) => answer.text()).then(() => fetch('/data?3')).then((answer) => answer.text()).then(add);`),
  ),
  '/xhr': page(
    script(`const request = new XMLHttpRequest(); request.open('GET', '/data');
      request.onload = () => setTimeout(add, 50); request.send();`),
  ),
  '/module': page(script(`await (await fetch('/data')).text(); add();`, 'type="module"')),
  '/imported-module': page('', `<script type="module" src="/module.js"></script>`),
  '/deferred-script': page('', '<script defer src="/deferred.js"></script>'),
  '/hydration': page(
    `<div id="app">shell</div><script type="application/json" id="state">{"text":"late content"}</script>${script(
      `addEventListener('load', () => setTimeout(() => {
        document.querySelector('#app').textContent = JSON.parse(document.querySelector('#state').textContent).text;
      }, 100));`,
    )}`,
  ),
  '/worker': page(
    script(`const code = 'setTimeout(() => postMessage(1), 150)';
      new Worker(URL.createObjectURL(new Blob([code]))).onmessage = add;`),
  ),
  '/worker-400': page(
    script(`const code = 'setTimeout(() => postMessage(1), 400)';
      new Worker(URL.createObjectURL(new Blob([code]))).onmessage = add;`),
  ),
  '/intersection': page(
    `<div style="height: 4000px"></div><p id="end">end</p>${script(`new IntersectionObserver((entries, observer) => {
      if (entries.some((entry) => entry.isIntersecting)) { observer.disconnect(); add(); }
    }).observe(document.querySelector('#end'));`)}`,
  ),
  '/custom-element': page(
    `${script(`customElements.define('late-text', class extends HTMLElement {
      connectedCallback() { setTimeout(add, 100); } });`)}<late-text></late-text>`,
  ),
  '/body-handler': page('', '').replace(
    '<body>',
    `<body onload="setTimeout(() => document.body.append('late ' + 'content'), 100)">`,
  ),
  '/svg-handler': page(`<svg onload="setTimeout(() => document.body.append('late ' + 'content'), 100)"></svg>`),
  '/frame-that-writes-outside': page(
    `<iframe srcdoc="<script>setTimeout(() => parent.document.body.append('late ' + 'content'), 100)</script>"></iframe>`,
  ),
  '/script-in-a-shadow-root': page(
    `<div><template shadowrootmode="open"><slot></slot>${script('setTimeout(add, 100);')}</template>text</div>`,
  ),
  '/refresh': page('', '<meta http-equiv="Refresh" content="0; url=/arrived">'),
};

/** Documents that nothing changes after they have arrived. */
const STILL: Readonly<Record<string, string>> = {
  '/still': page('<p>late content</p>'),
  '/still-with-data': page('<p>late content</p>', '<script type="application/ld+json">{"@type":"Article"}</script>'),
  '/still-without-title': '<p>late content',
};

let bench: Bench;
beforeAll(async () => {
  bench = await startBench({
    pages: {
      ...LATE,
      ...STILL,
      '/arrived': page('<p>late content</p>'),
      '/module.js': ({ response }) => {
        response.setHeader('content-type', 'text/javascript').end(`import '/deferred.js';`);
      },
      '/deferred.js': ({ response }) => {
        response.setHeader('content-type', 'text/javascript').end(`${ADD} setTimeout(add, 100);`);
      },
      '/data': async ({ response }) => {
        await sleep(150);
        response.end('data');
      },
      '/never': () => {},
      '/refresh-header': ({ response }) => {
        response.setHeader('content-type', 'text/html').setHeader('refresh', '0; url=/arrived').end(page(''));
      },
      '/stream': async ({ response }) => {
        response.setHeader('content-type', 'text/html');
        for (const part of ['<title>Late</title><h1>Early</h1>', '<p>more', '<p>late content']) {
          response.write(part);
          await sleep(300);
        }
        response.end();
      },
    },
  });
});
afterAll(() => bench.close());

const SCRIPTS = /<script[\s\S]*?<\/script>/g;

test.each([...Object.keys(LATE), '/refresh-header', '/stream'])('waits for the content of %s', async (path) => {
  const { text } = await bench.last(path);
  expect(text.replaceAll(SCRIPTS, '')).toMatch(/late content/);
});

test.each(Object.keys(STILL))('returns %s as settled', async (path) => {
  const { text, settled } = await bench.last(path);
  expect(text).toContain('late content');
  expect(settled).toBe(true);
});
