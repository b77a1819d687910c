/** Writes blocks as HTML. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import type { Block } from './blocks.ts';
import type { Box } from './geometry.ts';
import { joinLines } from './join-runs.ts';
import type { Run } from './lines.ts';
import { referenceOf, type WithNotes } from './notes.ts';
import type { Table } from './table.ts';

export interface Writing {
  /** Makes the ids of notes unique across pages. */
  readonly page: number;
  readonly labels: ReadonlySet<string>;
  readonly placeOf: WrittenPage['placeOf'];
}

export interface WrittenPage {
  readonly number: number;
  /** The mark of a box, for the start tag of its block. */
  readonly placeOf: (box: Box) => string;
}

export function toHtml({ blocks, notes, labels }: WithNotes, { number: page, placeOf }: WrittenPage): string {
  const writing = { page, labels, placeOf };
  const parts: string[] = [];
  for (let at = 0; at < blocks.length; ) {
    const block = blocks[at]!;
    if (block.kind !== 'item') {
      parts.push(single(block, writing));
      at += 1;
      continue;
    }
    const items: PlacedItem[] = [];
    for (let next = blocks[at]; next?.kind === 'item'; next = blocks[++at]) items.push(next);
    parts.push(list(items, writing));
  }
  for (const { label, runs, box } of notes) {
    parts.push(`<p id="${noteId(label, page)}"${markOf(box, writing)}>${inline(runs, writing)}</p>`);
  }
  return parts.join('\n');
}

const noteId = (label: string, page: number): string =>
  `fn-${page}-${/^\w+$/.test(label) ? label : Array.from(label, (sign) => sign.codePointAt(0)!.toString(16)).join('-')}`;

const markOf = (box: Box | undefined, { placeOf }: Writing): string => (box ? placeOf(box) : '');

type PlacedItem = Extract<Block, { kind: 'item' }>;

function single(block: Exclude<Block, PlacedItem>, writing: Writing): string {
  const mark = markOf(block.box, writing);
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}${mark}>${inline(block.runs, writing, true)}</h${block.level}>`;
    case 'paragraph':
      return `<p${mark}>${inline(block.runs, writing)}</p>`;
    case 'quote':
      return `<blockquote${mark}><p>${inline(block.runs, writing)}</p></blockquote>`;
    case 'code':
      return `<pre${mark}><code>${escapeText(block.text)}</code></pre>`;
    case 'figure':
      return `<p${mark}><img alt="${escapeAttribute(block.alt)}" src="${block.source}"></p>`;
    case 'table':
      return tableHtml(block.table, mark, writing);
  }
}

/** Markers further apart than this, in points, belong to different list levels. */
const SAME_INDENT = 3;
/** Maximum depth of nested lists. */
const MAX_LIST_DEPTH = 8;

function list(items: readonly PlacedItem[], writing: Writing): string {
  let out = '';
  const open: { readonly ordered: boolean; readonly indent: number }[] = [];
  const shut = () => {
    out += `</li>${open.pop()!.ordered ? '</ol>' : '</ul>'}`;
  };
  for (const { ordered, indent, number, runs, box } of items) {
    while (open.length > 1 && open[open.length - 1]!.indent > indent + SAME_INDENT) shut();
    const inner = open[open.length - 1];
    const isDeeper = inner !== undefined && indent > inner.indent + SAME_INDENT && open.length < MAX_LIST_DEPTH;
    if (inner && !isDeeper && inner.ordered === ordered) out += '</li>';
    else {
      if (inner && !isDeeper) shut();
      out += ordered ? (number === 1 ? '<ol>' : `<ol start="${number}">`) : '<ul>';
      open.push({ ordered, indent });
    }
    out += `<li${markOf(box, writing)}>${inline(runs, writing)}`;
  }
  while (open.length > 0) shut();
  return out;
}

function tableHtml({ rows }: Table, mark: string, writing: Writing): string {
  const html = (at: number) =>
    `<tr>${rows[at]!.map(({ lines, columns, rows: height, header }) => {
      const name = header ? 'th' : 'td';
      const spans = (columns > 1 ? ` colspan="${columns}"` : '') + (height > 1 ? ` rowspan="${height}"` : '');
      return `<${name}${spans}>${inline(joinLines(lines), writing, header)}</${name}>`;
    }).join('')}</tr>`;
  let heads = 0;
  while (heads < rows.length && rows[heads]!.every(({ header }) => header)) heads += 1;
  const all = rows.map((_, at) => html(at));
  const head = heads > 0 ? `<thead>${all.slice(0, heads).join('')}</thead>` : '';
  return `<table${mark}>${head}<tbody>${all.slice(heads).join('')}</tbody></table>`;
}

/** TeX sets quotes and symbols in its monospaced font within other text. */
const LONE_SIGN = /^\s*[^\p{L}\p{N}\s]?\s*$/u;

const SAFE = /^(?:https?:\/\/|mailto:)/i;

/** Writes runs with their styles. `plain` omits bold, for elements that are bold already. */
function inline(runs: readonly Run[], writing: Writing, plain = false): string {
  let out = '';
  const all = trimmed(runs);
  for (let at = 0; at < all.length; ) {
    const { href } = all[at]!;
    let end = at + 1;
    while (end < all.length && all[end]!.href === href) end += 1;
    const html = withTags(all.slice(at, end), writing, plain);
    out +=
      href !== undefined && SAFE.test(href) ? wrapWords(html, `<a href="${escapeAttribute(href)}">`, '</a>') : html;
    at = end;
  }
  return out;
}

function withTags(runs: readonly Run[], writing: Writing, plain: boolean): string {
  let out = '';
  for (const run of runs) {
    const label = referenceOf(run, writing.labels);
    let html = escapeText(run.text);
    if (label !== null) {
      const id = noteId(label, writing.page);
      html = `<sup><a href="#${id}" id="fnref-${id.slice(3)}">${escapeText(label)}</a></sup>`;
    } else {
      if (run.shift === 'raised') html = wrapWords(html, '<sup>', '</sup>');
      if (run.shift === 'lowered') html = wrapWords(html, '<sub>', '</sub>');
      if (run.mono && !LONE_SIGN.test(run.text)) html = wrapWords(html, '<code>', '</code>');
      if (run.italic) html = wrapWords(html, '<em>', '</em>');
      if (run.bold && !plain) html = wrapWords(html, '<strong>', '</strong>');
    }
    out += html;
  }
  return out;
}

/** Wraps the words in tags, with leading and trailing spaces outside. */
function wrapWords(html: string, start: string, end: string): string {
  const core = html.trim();
  if (core === '') return html;
  const at = html.indexOf(core);
  return html.slice(0, at) + start + core + end + html.slice(at + core.length);
}

function trimmed(runs: readonly Run[]): Run[] {
  const out = runs.filter(({ text }) => text !== '');
  const first = out[0];
  if (first) out[0] = { ...first, text: first.text.trimStart() };
  const last = out[out.length - 1];
  if (last) out[out.length - 1] = { ...last, text: last.text.trimEnd() };
  return out;
}
