/** Pages and resources that would exhaust the memory: endless bodies, and scripts that never stop allocating. */
import type { ServerResponse } from 'node:http';
import zlib from 'node:zlib';
import { type Page, type Pages, sendHtml } from '../site.ts';

const CHUNK_BYTES = 64 * 1024;

/** Writes a piece of text repeatedly, as fast as the client reads it. */
export function pour(response: ServerResponse, piece: string, start = ''): void {
  const chunk = Buffer.from(piece.repeat(Math.ceil(CHUNK_BYTES / piece.length)));
  const go = () => {
    while (!response.destroyed && response.write(chunk));
  };
  response.on('drain', go);
  response.write(start);
  go();
}

const endless =
  (type: string, piece: string, start = ''): Page =>
  ({ response }) => {
    response.writeHead(200, { 'content-type': type, 'access-control-allow-origin': '*' });
    pour(response, piece, start);
  };

/** A small compressed page that expands to 4 GB of paragraphs. */
const bomb =
  (encoding: 'gzip' | 'br', layers = 1): Page =>
  ({ response }) => {
    const pack = encoding === 'gzip' ? zlib.gzipSync : zlib.brotliCompressSync;
    // A gzip file may have several members (RFC 1952, section 2.2), but a brotli file only one.
    let body: Buffer =
      encoding === 'gzip' ? repeated(pack(PARAGRAPHS), 256) : pack(Buffer.alloc(100_000_000, '<p>More'));
    for (let layer = 1; layer < layers; layer++) body = pack(body);
    const codings = Array.from({ length: layers }, () => encoding).join(', ');
    response.writeHead(200, { 'content-type': 'text/html', 'content-encoding': codings }).end(body);
  };
const PARAGRAPHS = Buffer.alloc(16_000_000, '<p>And so on, and so on.</p>\n');
const repeated = (bytes: Buffer, times: number) => Buffer.concat(Array.from({ length: times }, () => bytes));

/** A page just below the size limit. */
const large =
  (piece: string): Page =>
  ({ response }) =>
    sendHtml(response, START + piece.repeat(Math.floor(31_000_000 / piece.length)));

const START = '<!DOCTYPE html><title>More</title><h1>The beginning.</h1>';

/** A page that shows a sentence and then runs a script. */
const running = (script: string): string =>
  `${START}<p>This is here before the script runs.</p><script>setTimeout(() => { ${script} }, 50);</script>`;

/** A page that shows a sentence next to other HTML. */
const showing = (html: string): string => `${START}<p>This is here before the rest.</p>${html}`;

export const endlessPages: Pages = {
  '/endless/html': endless('text/html', '<p>And so on, and so on, and so on.</p>\n', START),
  '/endless/text': endless('text/plain', 'And so on, and so on, and so on.\n'),
  '/endless/one-text-node': endless('text/html', 'and so on ', START),
  '/endless/comment': endless('text/html', 'and so on ', `${START}<p>Shown.</p><!-- `),
  '/endless/attribute': endless('text/html', 'and so on ', `${START}<p>Shown.</p><p title="`),
  '/endless/nested': endless('text/html', '<div><b>', START),
  '/endless/head': endless('text/html', '<style>.more { color: red; }</style>', '<!DOCTYPE html><title>More</title>'),
  '/endless/json': endless('application/json', '{"more": [1, 2, 3]},\n', '['),
  '/endless/xml': endless('application/xml', '<more>and so on</more>\n', '<?xml version="1.0"?><all>'),
  '/endless/large-html': large('<p>And so on.</p>'),
  '/endless/large-text': large('and so on '),
  '/endless/large-nested': large('<div><b>'),
  '/endless/large-table': large('<tr><td>1<td>2'),
  '/endless/large-attributes': large('<a href="/more" title="x">more</a>'),
  '/endless/large-entities': large('&lt;&amp;'),
  '/endless/gzip': bomb('gzip'),
  '/endless/gzip-twice': bomb('gzip', 2),
  '/endless/brotli': bomb('br'),
  '/endless/stream.js': endless('text/javascript', 'globalThis.more = (globalThis.more || "") + "more";\n'),
  '/endless/stream.css': endless('text/css', '.more { color: red; }\n'),
  '/endless/stream.bin': endless('application/octet-stream', 'more'),
  '/endless/stream.events': endless('text/event-stream', 'data: and so on\n\n'),
  '/endless/stream.png': endless('image/png', 'more', '\x89PNG\r\n'),
  '/endless/script': showing('<script src="/endless/stream.js"></script>'),
  '/endless/style': showing('<link rel="stylesheet" href="/endless/stream.css">'),
  '/endless/image': showing('<img src="/endless/stream.png" alt="">'),
  '/endless/iframe': showing('<iframe src="/endless/html"></iframe>'),
  '/endless/object': showing('<object data="/endless/html"></object>'),
  '/endless/fetch': running('fetch("/endless/stream.bin").then((answer) => answer.arrayBuffer())'),
  '/endless/fetch-text': running('fetch("/endless/stream.bin").then((answer) => answer.text())'),
  '/endless/fetch-many': running(
    'for (let at = 0; at < 50; at++) fetch("/endless/stream.bin?" + at).then((answer) => answer.blob())',
  ),
  '/endless/fetch-kept': running(
    'fetch("/endless/stream.bin").then(async ({ body }) => { const kept = []; for await (const part of body) kept.push(part); globalThis.kept = kept; })',
  ),
  '/endless/xhr': running(
    'const asked = new XMLHttpRequest(); asked.open("GET", "/endless/stream.bin"); asked.send(); globalThis.asked = asked;',
  ),
  '/endless/xhr-sync': running(
    'const asked = new XMLHttpRequest(); asked.open("GET", "/endless/stream.bin", false); asked.send();',
  ),
  '/endless/events': running(
    'globalThis.kept = []; new EventSource("/endless/stream.events").onmessage = (event) => kept.push(event.data);',
  ),
  '/endless/append': running(
    'setInterval(() => { for (let at = 0; at < 20000; at++) { const p = document.createElement("p"); p.textContent = "And so on " + at; document.body.append(p); } }, 1);',
  ),
  '/endless/append-text': running('setInterval(() => document.body.append("and so on ".repeat(1000000)), 1);'),
  '/endless/append-loop': running(
    'for (;;) { const p = document.createElement("p"); p.textContent = "And so on"; document.body.append(p); }',
  ),
  '/endless/write': running('for (;;) document.write("<p>And so on.</p>");'),
  '/endless/write-timer': running(
    'document.open(); setInterval(() => document.write("<p>And so on.</p>".repeat(20000)), 1);',
  ),
  '/endless/attributes': running(
    'let at = 0; setInterval(() => { for (let k = 0; k < 2000; k++) document.body.setAttribute("data-more-" + at++, "and so on ".repeat(100)); }, 1);',
  ),
  '/endless/strings': running(
    'globalThis.kept = []; setInterval(() => { kept.push(new TextDecoder().decode(new Uint8Array(50_000_000).fill(65 + kept.length % 20))); }, 1);',
  ),
  '/endless/buffers': running(
    'globalThis.kept = []; setInterval(() => kept.push(new Uint8Array(50_000_000).fill(1)), 1);',
  ),
  '/endless/buffers-loop': running('globalThis.kept = []; for (;;) kept.push(new Uint8Array(50_000_000).fill(1));'),
  '/endless/wasm': running(
    'globalThis.kept = []; setInterval(() => { const memory = new WebAssembly.Memory({ initial: 1000 }); new Uint8Array(memory.buffer).fill(1); kept.push(memory); }, 1);',
  ),
  '/endless/canvases': running(
    'globalThis.kept = []; setInterval(() => { const one = document.createElement("canvas"); one.width = one.height = 4000; const pen = one.getContext("2d"); pen.fillRect(0, 0, 4000, 4000); kept.push(pen.getImageData(0, 0, 1, 1), one); document.body.append(one); }, 1);',
  ),
  '/endless/canvas': running(
    'const one = document.createElement("canvas"); one.width = 32767; one.height = 32767; one.getContext("2d").fillRect(0, 0, 32767, 32767); document.body.append(one); globalThis.data = one.toDataURL();',
  ),
  '/endless/workers': running(
    'const source = URL.createObjectURL(new Blob(["const kept = []; setInterval(() => kept.push(new Uint8Array(10_000_000).fill(1)), 10);"])); setInterval(() => new Worker(source), 20);',
  ),
  '/endless/workers-idle': running(
    'const source = URL.createObjectURL(new Blob(["setInterval(() => {}, 1000);"])); for (let at = 0; at < 300; at++) new Worker(source);',
  ),
  '/endless/frames': running(
    'setInterval(() => { for (let at = 0; at < 50; at++) { const frame = document.createElement("iframe"); frame.srcdoc = "<p>A frame.</p>"; document.body.append(frame); } }, 1);',
  ),
  '/endless/frames-deep': ({ response, url }) => {
    const depth = Number(url.searchParams.get('depth') ?? 0);
    response.setHeader('content-type', 'text/html');
    response.end(
      showing(
        `<p>Depth ${depth}.</p><iframe src="?depth=${depth + 1}"></iframe><iframe src="?depth=${depth + 1}&second"></iframe>`,
      ),
    );
  },
  '/endless/frames-other': ({ response, otherOrigin }) => {
    response.setHeader('content-type', 'text/html');
    response.end(
      running(
        `setInterval(() => { for (let at = 0; at < 5; at++) { const frame = document.createElement("iframe"); frame.src = "${otherOrigin}/endless/small"; document.body.append(frame); } }, 10);`,
      ),
    );
  },
  '/endless/small': showing(''),
  '/endless/windows': running('setInterval(() => window.open("/endless/small"), 1);'),
  '/endless/blobs': running(
    'globalThis.kept = []; setInterval(() => { const blob = new Blob([new Uint8Array(20_000_000).fill(1)]); kept.push(blob); const link = document.createElement("a"); link.href = URL.createObjectURL(blob); link.download = "more.bin"; link.click(); }, 5);',
  ),
  '/endless/storage': running(
    'const asked = indexedDB.open("more", 1); asked.onupgradeneeded = () => asked.result.createObjectStore("all", { autoIncrement: true }); asked.onsuccess = () => setInterval(() => asked.result.transaction("all", "readwrite").objectStore("all").add(new Uint8Array(20_000_000).fill(1)), 20);',
  ),
  '/endless/cache': running(
    'caches.open("more").then((all) => { let at = 0; setInterval(() => all.put("/kept-" + at++, new Response(new Uint8Array(20_000_000).fill(1))), 20); })',
  ),
  '/endless/post': running(
    'setInterval(() => fetch("/endless/taken", { method: "POST", body: new Uint8Array(50_000_000).fill(1) }), 20);',
  ),
  '/endless/taken': ({ request, response }) => void request.resume().on('end', () => response.end()),
  '/endless/console-once': running('console.log("\\u0001".repeat((Number(location.search.slice(1)) || 60_000_000)))'),
  '/endless/error-once': running('throw new Error("\\u0001".repeat((Number(location.search.slice(1)) || 60_000_000)))'),
  '/endless/post-once': running(
    'fetch("/endless/taken", { method: "POST", body: "\\u0001".repeat((Number(location.search.slice(1)) || 60_000_000)) })',
  ),
  '/endless/console': running(
    'const text = "x".repeat(1_000_000); setInterval(() => { for (let at = 0; at < 20; at++) console.log(text + at); }, 1);',
  ),
  '/endless/title': running(
    'let text = "more"; setInterval(() => { if (text.length < 200_000_000) text += text; document.title = text; }, 10);',
  ),
  '/endless/history': running(
    'let at = 0; setInterval(() => history.replaceState("x".repeat(1_000_000), "", "?" + at++), 5);',
  ),
  '/endless/tall': showing('<div style="height: 1000000px; background: linear-gradient(red, blue)">Tall</div>'),
  '/endless/wide': showing(
    '<div style="height: 1000000px; width: 1000000px; background: repeating-conic-gradient(red, blue 1%)">Wide</div>',
  ),
  '/endless/tall-noise': running(
    'const one = document.createElement("canvas"); one.width = 4000; one.height = 16000; const pen = one.getContext("2d"); const data = pen.createImageData(4000, 16000); const part = new Uint8Array(65536); for (let at = 0; at + 65536 <= data.data.length; at += 65536) { crypto.getRandomValues(part); data.data.set(part, at); } pen.putImageData(data, 0, 0); document.body.append(one);',
  ),
  '/endless/svg': showing(
    `<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><defs><g id="a0"><path d="M0 0h9"/></g>${Array.from({ length: 8 }, (_, at) => `<g id="a${at + 1}">${`<use href="#a${at}"/>`.repeat(10)}</g>`).join('')}</defs><use href="#a8"/></svg>`,
  ),
};
