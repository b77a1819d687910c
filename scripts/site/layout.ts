/** Renders a documentation page as HTML without inline scripts and styles, which its Content-Security-Policy forbids. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import { BASE, type SitePage } from './pages.ts';

export interface SiteFiles {
  readonly style: string;
  readonly script: string;
}

/** Levels of the headings that are listed next to the page. */
const LISTED_LEVELS = [2, 3];
const MIN_LISTED = 3;

export function pageHtml(page: SitePage, all: readonly SitePage[], { style, script }: SiteFiles): string {
  const at = all.indexOf(page);
  const headings = headingList(page);
  const title = page.slug === '' ? 'Lectern' : `${page.title} · Lectern`;
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${escapeText(title)}</title>
<meta name="description" content="${escapeAttribute(page.summary.slice(0, 200))}">
<link rel="stylesheet" href="${style}">
<link rel="icon" href="/favicon.ico" type="image/svg+xml">
<link rel="alternate" type="text/markdown" href="${markdownUrl(page)}">
<script type="module" src="${script}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header>
<a class="brand" href="${BASE}">Lectern</a>
<form role="search" class="search" hidden>
<label for="query">Search</label>
<input id="query" type="search" placeholder="Search options, settings, guides" autocomplete="off" role="combobox" aria-expanded="false" aria-controls="found" aria-autocomplete="list">
<kbd aria-hidden="true">/</kbd>
<ul id="found" role="listbox" aria-label="Found" hidden></ul>
</form>
<nav class="links" aria-label="Site"><a href="/playground">Playground</a> <a href="${BASE}api">API</a></nav>
</header>
<div class="columns${headings ? '' : ' wide'}">
<details class="menu" open>
<summary>Pages</summary>
<nav aria-label="Pages">
${menu(page, all)}
</nav>
</details>
<main id="content">
${page.html}
<footer>
<nav aria-label="Previous and next page">${neighborLink('prev', all[at - 1])}${neighborLink('next', all[at + 1])}</nav>
<p><a href="${markdownUrl(page)}">This page as Markdown</a></p>
</footer>
</main>
${headings}
</div>
</body>
</html>
`;
}

export const markdownUrl = ({ slug }: SitePage) => `${BASE}${slug || 'index'}.md`;

function menu(page: SitePage, all: readonly SitePage[]): string {
  const sections = [...new Set(all.map(({ section }) => section))].map(
    (section) => [section, all.filter((other) => other.section === section)] as const,
  );
  return sections
    .map(
      ([section, pages]) =>
        `<h2>${escapeText(section)}</h2>\n<ul>\n${pages
          .map(
            (other) =>
              `<li><a href="${BASE}${other.slug}"${other === page ? ' aria-current="page"' : ''}>${escapeText(other.title)}</a></li>`,
          )
          .join('\n')}\n</ul>`,
    )
    .join('\n');
}

function neighborLink(rel: 'prev' | 'next', page: SitePage | undefined): string {
  if (!page) return '';
  const arrow = rel === 'prev' ? '← ' : '';
  const after = rel === 'next' ? ' →' : '';
  return `<a rel="${rel}" href="${BASE}${page.slug}">${arrow}${escapeText(page.title)}${after}</a>`;
}

function headingList({ headings }: SitePage): string {
  const listed = headings.filter(({ level }) => LISTED_LEVELS.includes(level));
  if (listed.length < MIN_LISTED) return '';
  const items = listed.map(
    ({ id, text, level }) =>
      `<li class="level-${level}"><a href="#${escapeAttribute(id)}">${escapeText(text)}</a></li>`,
  );
  return `<nav class="headings" aria-label="On this page"><h2>On this page</h2><ul>\n${items.join('\n')}\n</ul></nav>`;
}
