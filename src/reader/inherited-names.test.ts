/** Pages with tags, classes, attributes and metadata named like properties that every object inherits. */
import { it } from 'vitest';
import { expectPlainNames } from '#own-value.suite.ts';
import type { GivenOptions } from './options/options.ts';
import { renderHtml } from './render.suite.ts';

// Short, so that all of the page is content: the words in names such as toString are evidence for longer pages.
const PROSE = 'The old ropewalk is as long as the quay, and its floor is a hand deep in hemp dust. ';

const page = (n: string) => `<!doctype html><html lang="${n}" class="${n}" ${n}="${n}"><head>
<title>${n} | Quay Papers</title>
<meta name="${n}" content="a ${n}"><meta property="${n}" content="b"><meta property="og:${n}" content="c">
<meta http-equiv="${n}" content="d"><meta itemprop="${n}" content="e"><meta name="author" content="${n}">
<meta property="article:published_time" content="${n}"><meta property="og:type" content="${n}">
<meta property="og:locale" content="${n}"><link rel="${n}" href="/${n}" type="${n}" hreflang="${n}">
<script type="application/ld+json">{"@context":"https://schema.org","@type":"${n}","${n}":{"@id":"${n}","${n}":["${n}"]},
"headline":"${n}","author":{"@type":"${n}","name":"${n}"},"image":{"@id":"${n}"},"inLanguage":"${n}"}</script>
<style>.${n} { ${n}: ${n}; display: ${n} }</style></head>
<body class="${n}" id="${n}"><header class="${n}"><nav><a href="/">Quay</a></nav></header>
<main class="${n}" role="${n}"><h1 id="${n}">${n}</h1><p class="byline ${n}">By ${n}, <time datetime="${n}">5 March 2024 10:00 ${n}</time></p>
<p style="${n}: ${n}; display: ${n}; color: ${n}; background: ${n}; ${n}">${PROSE}</p>
<${n}>in a tag</${n}><${n} class="${n}"><p>${PROSE}</p></${n}>
<p itemscope itemtype="${n}" itemprop="${n}"><span itemprop="${n}" ${n}="${n}" data-${n}="${n}">${PROSE}</span></p>
<p><a href="/${n}" rel="${n}" title="${n}">${n}</a> <a href="${n}:x">y</a> <img src="/${n}.png" alt="${n}" loading="${n}"></p>
<pre><code class="language-${n} ${n}">let ${n} = 1;</code></pre>
<p>&${n}; <math><mi mathvariant="${n}">${n}</mi><mover><mi>x</mi><mo>${n}</mo></mover><munder><mi>x</mi><mo>${n}</mo></munder>
<mrow><mo fence="true">${n}</mo><mi>y</mi><mo>${n}</mo></mrow><${n}><mi>z</mi></${n}></math></p>
<svg><${n} ${n}="${n}"></${n}><text>${n}</text></svg>
<video src="/${n}.mp4" ${n}="x" poster="${n}"></video><iframe src="https://${n}.example/${n}"></iframe>
<table class="${n}"><tr><th scope="${n}">${n}</th></tr><tr><td align="${n}">${n}</td></tr></table>
<ul type="${n}"><li value="${n}">${n}</li></ul><ol type="${n}" start="${n}"><li>${n}</li></ol>
<form action="${n}" method="${n}"><input type="${n}" name="${n}"></form>
<article class="h-entry ${n}"><p>${PROSE}<a class="p-author ${n}" rel="author" href="/${n}">${n}</a></p></article>
</main><footer class="${n}">${n}</footer></body></html>`;

it.each<[string, GivenOptions]>([
  ['content', { withLinksSummary: true, withImagesSummary: true }],
  ['markdown', { retainMedia: 'html', retainLinks: 'gpt-oss' }],
  ['frontmatter', {}],
  ['html', {}],
  ['text', {}],
])('%s', async (respondWith, given) => {
  await expectPlainNames((name) => {
    const { usage, ...read } = renderHtml(page(name), { respondWith, ...given }).page;
    return read;
  });
});
