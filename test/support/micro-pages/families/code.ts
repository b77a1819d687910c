/** Code with captions, file names and line numbers. */
import { type Shape, shape } from '../micro-page.ts';
import { remarks, times } from '../words.ts';

const LINES = ['const gauge = open("north");', 'const level = gauge.read();', 'report(level, { unit: "cm" });'];
const CODE = LINES.join('\n');

export const CODE_BLOCKS: readonly Shape[] = [
  shape('figure with caption', 'Listing of the reader', (names) => ({
    html: `<figure${names('listing')}><pre><code class="language-js">${CODE}</code></pre><figcaption>Listing 3: one reading of the gauge</figcaption></figure>`,
    keep: [CODE, 'Listing 3: one reading of the gauge'],
  })),
  shape('file name above', 'Where the reader lives', (names) => ({
    html: `<div${names('code')}><div${names('code', 'header')}>src/reader/main.js</div><pre><code>${CODE}</code></pre></div>`,
    keep: ['src/reader/main.js', CODE],
  })),
  shape('copy button', 'Copy and run', (names) => ({
    html: `<div${names('highlight')}><button type="button"${names('highlight', 'copy')}>Copy</button><pre><code>${CODE}</code></pre></div>`,
    keep: [CODE],
  })),
  shape('line numbers in a table', 'The numbered version', (names) => {
    const rows = LINES.map(
      (line, at) => `<tr><td${names('code', 'number')}>${at + 1}</td><td><pre>${line}</pre></td></tr>`,
    );
    return { html: `<table${names('highlight')}>${rows.join('')}</table>`, keep: LINES };
  }),
  shape('a line an element', 'The colored version', (names) => ({
    html: `<pre${names('shiki')}><code>${LINES.map((line) => `<span class="line">${line}</span>`).join('\n')}</code></pre>`,
    keep: LINES,
  })),
  shape('short commands between sentences', 'Commands for every day', () => {
    const texts = remarks(6, 160);
    const commands = ['gauge up', 'gauge down', 'gauge list', 'gauge drop', 'gauge sync', 'gauge help'];
    return {
      html: times(6, (at) => `<p>${texts[at]}</p>\n<pre>${commands[at]}</pre>`).join('\n'),
      keep: [...texts, ...commands],
    };
  }),
  shape('command and output', 'What the program prints', (names) => ({
    html: `<pre${names('terminal')}><code>$ gauge status</code></pre>\n<p>Output:</p>\n<pre><samp>north  142 cm  rising\nsouth   88 cm  steady</samp></pre>`,
    keep: ['gauge status', 'Output', 'north 142 cm rising', 'south 88 cm steady'],
  })),
];
