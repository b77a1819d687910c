/** Blocks as HTML. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import { type Block, joinLines } from './blocks.ts';
import type { Run } from './lines.ts';
import type { Table } from './table.ts';

export function toHtml(blocks: readonly Block[]): string {
  const parts: string[] = [];
  for (let at = 0; at < blocks.length; ) {
    const block = blocks[at]!;
    if (block.kind === 'item') {
      let end = at;
      while (blocks[end]?.kind === 'item') end += 1;
      parts.push(list(blocks.slice(at, end) as Item[]));
      at = end;
      continue;
    }
    parts.push(single(block));
    at += 1;
  }
  return parts.join('\n');
}

type Item = Extract<Block, { kind: 'item' }>;

function single(block: Exclude<Block, Item>): string {
  switch (block.kind) {
    case 'heading':
      return `<h${block.level}>${inline(block.runs, true)}</h${block.level}>`;
    case 'paragraph':
      return `<p>${inline(block.runs)}</p>`;
    case 'quote':
      return `<blockquote><p>${inline(block.runs)}</p></blockquote>`;
    case 'code':
      return `<pre><code>${escapeText(block.text)}</code></pre>`;
    case 'note':
      return `<p id="fn-${escapeAttribute(block.label)}">${inline(block.runs)}</p>`;
    case 'table':
      return tableHtml(block.table);
  }
}

function list(items: readonly Item[]): string {
  let out = '';
  const open: { readonly ordered: boolean; readonly depth: number }[] = [];
  for (const { ordered, depth, start, runs } of items) {
    while (open.length > 0 && open[open.length - 1]!.depth > depth) out += `</li>${endTag(open.pop()!.ordered)}`;
    const inner = open[open.length - 1];
    if (inner && inner.depth === depth && inner.ordered === ordered) out += '</li>';
    else {
      if (inner && inner.depth === depth) out += `</li>${endTag(open.pop()!.ordered)}`;
      out += ordered ? (start === 1 ? '<ol>' : `<ol start="${start}">`) : '<ul>';
      open.push({ ordered, depth });
    }
    out += `<li>${inline(runs)}`;
  }
  for (let last = open.pop(); last; last = open.pop()) out += `</li>${endTag(last.ordered)}`;
  return out;
}

const endTag = (ordered: boolean): string => (ordered ? '</ol>' : '</ul>');

function tableHtml({ rows }: Table): string {
  const html = (at: number) =>
    `<tr>${rows[at]!.map(({ lines, columns, rows: height, header }) => {
      const name = header ? 'th' : 'td';
      const spans = (columns > 1 ? ` colspan="${columns}"` : '') + (height > 1 ? ` rowspan="${height}"` : '');
      return `<${name}${spans}>${inline(joinLines(lines), header)}</${name}>`;
    }).join('')}</tr>`;
  let heads = 0;
  while (heads < rows.length && rows[heads]!.every(({ header }) => header)) heads += 1;
  const all = rows.map((_, at) => html(at));
  const head = heads > 0 ? `<thead>${all.slice(0, heads).join('')}</thead>` : '';
  return `<table>${head}<tbody>${all.slice(heads).join('')}</tbody></table>`;
}

const SAFE = /^(?:https?:\/\/|mailto:)/i;

/** Runs with their looks; `plain` leaves weight out where the element has its own. */
export function inline(runs: readonly Run[], plain = false): string {
  let out = '';
  for (const run of trimmed(runs)) {
    const core = run.text.trim();
    if (core === '') {
      out += run.text;
      continue;
    }
    const at = run.text.indexOf(core);
    const before = run.text.slice(0, at);
    const after = run.text.slice(at + core.length);
    let html = escapeText(core);
    if (run.shift === 'raised') html = `<sup>${html}</sup>`;
    if (run.shift === 'lowered') html = `<sub>${html}</sub>`;
    if (run.mono) html = `<code>${html}</code>`;
    if (run.italic) html = `<em>${html}</em>`;
    if (run.bold && !plain) html = `<strong>${html}</strong>`;
    if (run.href && SAFE.test(run.href)) html = `<a href="${escapeAttribute(run.href)}">${html}</a>`;
    out += before + html + after;
  }
  return out;
}

function trimmed(runs: readonly Run[]): Run[] {
  const out = runs.filter(({ text }) => text !== '');
  const first = out[0];
  if (first) out[0] = { ...first, text: first.text.trimStart() };
  const last = out[out.length - 1];
  if (last) out[out.length - 1] = { ...last, text: last.text.trimEnd() };
  return out;
}
