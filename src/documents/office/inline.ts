/** The text of a paragraph: formatted runs, written as HTML with minimal nesting. */
import { escapeAttribute, escapeText } from '#html/serialize.ts';
import { isUrl } from '#is-url.ts';

export interface Marks {
  readonly bold?: boolean | undefined;
  readonly italic?: boolean | undefined;
  readonly strike?: boolean | undefined;
  readonly code?: boolean | undefined;
  readonly raised?: 'sup' | 'sub' | undefined;
  /** A URL that `safeHref` accepted. */
  readonly href?: string | undefined;
}

interface Run {
  readonly kind: 'text' | 'atom' | 'break';
  /** Plain text, or HTML for atoms. */
  content: string;
  marks: number;
  readonly href: string;
}

const LINK = 1;
const BOLD = 2;
const ITALIC = 4;
const STRIKE = 8;
const SUP = 16;
const SUB = 32;
const CODE = 64;
const TAGS = ['a', 'b', 'i', 's', 'sup', 'sub', 'code'] as const;

const bitsOf = ({ bold, italic, strike, code, raised, href }: Marks): number =>
  (href ? LINK : 0) |
  (bold ? BOLD : 0) |
  (italic ? ITALIC : 0) |
  (strike ? STRIKE : 0) |
  (raised === 'sup' ? SUP : raised === 'sub' ? SUB : 0) |
  (code ? CODE : 0);

const isBlank = (text: string): boolean => !/[^\s\u00a0]/.test(text);

/** Control characters that do not belong in text. */
const withoutControls = (text: string): string =>
  /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/.test(text) ? text.replace(/[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/g, '') : text;

export class Inline {
  #runs: Run[] = [];
  #visible = false;

  /** Whether the paragraph has no visible content yet. */
  get empty(): boolean {
    return !this.#visible;
  }

  /** Whether all text is code. */
  get isCode(): boolean {
    const shown = this.#runs.filter(({ kind, content }) => kind !== 'break' && !isBlank(content));
    return shown.length > 0 && shown.every(({ kind, marks }) => kind === 'text' && (marks & CODE) !== 0);
  }

  /** Whether some of the text is code. */
  get hasCode(): boolean {
    return this.#runs.some(({ kind, content, marks }) => kind === 'text' && (marks & CODE) !== 0 && !isBlank(content));
  }

  text(text: string, marks: Marks = {}): void {
    const content = withoutControls(text);
    if (content === '') return;
    const bits = bitsOf(marks);
    const href = marks.href ?? '';
    const last = this.#runs.at(-1);
    if (last?.kind === 'text' && last.marks === bits && last.href === href) last.content += content;
    else this.#runs.push({ kind: 'text', content, marks: bits, href });
    this.#visible ||= !isBlank(content);
  }

  /** Adds HTML that is not text: an image, a formula, a reference to a note. */
  atom(html: string, marks: Marks = {}): void {
    if (html === '') return;
    this.#runs.push({ kind: 'atom', content: html, marks: bitsOf(marks) & LINK, href: marks.href ?? '' });
    this.#visible = true;
  }

  break(): void {
    this.#runs.push({ kind: 'break', content: '\n', marks: 0, href: '' });
  }

  /** The plain text, with line feeds for breaks. */
  plain(): string {
    return this.#runs.map(({ kind, content }) => (kind === 'atom' ? '' : content)).join('');
  }

  /** Inserts plain text at the start. */
  prepend(text: string): void {
    this.#runs.unshift({ kind: 'text', content: text, marks: 0, href: '' });
  }

  /** The content as one line of HTML, without breaks at its ends; `breaks: false` removes all breaks, for headings. */
  html({ breaks = true }: { readonly breaks?: boolean } = {}): string {
    const runs = this.#shown(breaks);
    const ends = endsOf(runs);
    const open: number[] = [];
    let out = '';
    for (const [at, { kind, content, marks, href }] of runs.entries()) {
      const stays = open.findIndex(
        (bit) => (marks & bit) === 0 || (bit === LINK && at > 0 && runs[at - 1]!.href !== href),
      );
      if (stays >= 0) for (const bit of open.splice(stays).reverse()) out += `</${tagOf(bit)}>`;
      const missing = [...TAGS.keys()].map((n) => 1 << n).filter((bit) => (marks & bit) !== 0 && !open.includes(bit));
      missing.sort((one, other) => ends[indexOf(other)]![at]! - ends[indexOf(one)]![at]!);
      for (const bit of missing) {
        out += bit === LINK ? `<a href="${escapeAttribute(href)}">` : `<${tagOf(bit)}>`;
        open.push(bit);
      }
      out += kind === 'text' ? escapeText(content) : kind === 'break' ? '<br>' : content;
    }
    for (const bit of open.reverse()) out += `</${tagOf(bit)}>`;
    return out;
  }

  /** Spaces and breaks between two runs receive the marks that both runs share; those at the ends receive none. */
  #shown(breaks: boolean): Run[] {
    const runs: Run[] = this.#runs.map((run) =>
      run.kind === 'break' && !breaks ? { ...run, kind: 'text', content: ' ' } : { ...run },
    );
    const blank = (run: Run) => run.kind !== 'atom' && isBlank(run.content);
    let first = 0;
    while (first < runs.length && blank(runs[first]!)) first++;
    let end = runs.length;
    while (end > first && blank(runs[end - 1]!)) end--;
    const shown = runs.slice(first, end);
    const [head, tail] = [shown[0], shown.at(-1)];
    if (head?.kind === 'text' && (head.marks & CODE) === 0) head.content = head.content.trimStart();
    if (tail?.kind === 'text' && (tail.marks & CODE) === 0) tail.content = tail.content.trimEnd();
    let next = 0;
    for (let at = shown.length - 1; at >= 0; at--) {
      const run = shown[at]!;
      if (blank(run)) run.marks &= next & ~(SUP | SUB);
      else next = run.marks;
    }
    let before = 0;
    for (const run of shown) {
      if (blank(run)) run.marks &= before;
      else before = run.marks;
    }
    return unlinked(shown);
  }
}

/** A space between two links with different URLs belongs to neither link. */
function unlinked(runs: Run[]): Run[] {
  for (const [at, run] of runs.entries()) {
    if ((run.marks & LINK) === 0) continue;
    if (run.href === '' || (run.kind === 'text' && isBlank(run.content) && runs[at + 1]?.href !== run.href)) {
      run.marks &= ~LINK;
    }
  }
  return runs;
}

const indexOf = (bit: number): number => 31 - Math.clz32(bit);
const tagOf = (bit: number): string => TAGS[indexOf(bit)]!;

/** For each mark and run, the index of the next run without the mark. */
function endsOf(runs: readonly Run[]): Int32Array[] {
  return TAGS.map((_, n) => {
    const ends = new Int32Array(runs.length);
    for (let at = runs.length - 1; at >= 0; at--) {
      const run = runs[at]!;
      const goes = at + 1 < runs.length && (n > 0 || runs[at + 1]!.href === run.href);
      ends[at] = (run.marks & (1 << n)) === 0 ? at : goes ? Math.max(at + 1, ends[at + 1]!) : at + 1;
    }
    return ends;
  });
}

/** Accepts absolute web and mail URLs for links; `undefined` for all others. */
export function safeHref(address: string): string | undefined {
  const trimmed = address.trim();
  if (!/^(?:https?:\/\/|mailto:)/i.test(trimmed) || !isUrl(trimmed)) return undefined;
  return new URL(trimmed).href;
}
