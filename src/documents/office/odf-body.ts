/** Reads the text of an OpenDocument file (version 1.3, part 3) into a TextBuilder. */
import { escapeText } from '#html/serialize.ts';
import { ownValue } from '#own-value.ts';
import type { Annotations } from '../document.ts';
import { type Leave, SKIP, walk } from '../xml/walk.ts';
import { attribute, child, children, descendants, find, isElement, textOf, type XmlElement } from '../xml/xml.ts';
import { criticComment, DELETED, INSERTED, noteOfChange, noteOfComment, oneLine } from './annotations.ts';
import { HiddenText } from './hidden-text.ts';
import { Inline, type Marks, safeHref } from './inline.ts';
import type { ListPlace } from './lists.ts';
import { commentOf } from './odf-annotation.ts';
import { Counter } from './odf-numbers.ts';
import type { OdfStyle, OdfStyles } from './odf-styles.ts';
import type { Draw } from './pictures.ts';
import { isInvisible, marksOf, mergeStyles, type RunStyle } from './run-style.ts';
import { contentsLevelOf, contentsLine, headingLevelOf, htmlLevelOf, kindOf, TITLE } from './style-names.ts';
import type { TextBuilder } from './text-builder.ts';

export interface OdfContext {
  readonly styles: OdfStyles;
  readonly builder: TextBuilder;
  readonly draw: Draw;
  /** The root of an embedded object. */
  readonly object: (name: string) => XmlElement | undefined;
  /** By default, `none`. */
  readonly annotations?: Annotations | undefined;
  /** By default, hidden text is left out. */
  readonly hidden?: HiddenText;
}

interface OpenParagraph {
  readonly inline: Inline;
  readonly style: OdfStyle;
  /** Set for headings. */
  readonly level: number | undefined;
  readonly numbered: boolean;
}

interface Change {
  readonly kind: 'inserted' | 'deleted';
  readonly author: string;
  /** The text of a deletion. */
  readonly text: string;
  /** Where the insertion began in its paragraph. */
  from?: number;
}

interface OpenList {
  readonly style: string | undefined;
  readonly counter: Counter;
  /** Whether the next paragraph is the first of its item. */
  fresh: boolean;
  /** List headers are items without a number. */
  header: boolean;
}

type Enter = (element: XmlElement) => Leave | typeof SKIP | undefined;

/** Upper limit for the number of repetitions and the spans that a cell declares. */
const MAX_REPEATED = 1_000;
const MAX_SPACES = 1_000;

export class OdfReader {
  readonly #context: OdfContext;
  readonly #paragraphs: OpenParagraph[] = [];
  #lists: OpenList[] = [];
  readonly #counters = new Map<string, Counter>();
  readonly #headings = new Counter();
  readonly #frames: { readonly text: string; drawn: boolean }[] = [];
  #run: RunStyle = {};
  #href: string | undefined;
  #besideDepth = 0;
  #started = false;
  readonly #hidden: HiddenText;
  title = '';

  constructor(context: OdfContext) {
    this.#context = context;
    this.#hidden = context.hidden ?? new HiddenText();
  }

  /** Number of hidden pieces that were left out. */
  get hiddenCount(): number {
    return this.#hidden.pieces;
  }

  /** Reads a child of the text body. */
  read(piece: XmlElement): void {
    walk(piece, {
      enter: (element) => ownValue(this.#handlers, element.name)?.(element),
      text: (text) => this.#text(text.replace(/[\t\n\r ]+/g, ' ')),
    });
  }

  readonly #skip: Enter = () => SKIP;

  readonly #handlers: Readonly<Record<string, Enter | undefined>> = {
    'text:p': (element) => this.#paragraph(element, undefined),
    'text:h': (element) => this.#paragraph(element, Number(attribute(element, 'text:outline-level') ?? '1')),
    'text:span': (element) => this.#span(element),
    'text:a': (element) => this.#link(element),
    'draw:a': (element) => this.#link(element),
    'text:s': (element) =>
      this.#text(' '.repeat(Math.min(Number(attribute(element, 'text:c') ?? '1') || 1, MAX_SPACES))),
    'text:tab': () => this.#text('\t'),
    'text:line-break': () => this.#break(),
    'text:soft-page-break': () => this.#pageBreak(),
    'text:list': (element) => this.#list(element),
    'text:list-item': (element) => this.#item(element, false),
    'text:list-header': (element) => this.#item(element, true),
    'text:note': (element) => this.#note(element),
    'text:ruby': (element) => this.#ruby(element),
    'text:section': (element) => (attribute(element, 'text:display') === 'none' ? this.#hide(element) : undefined),
    'text:hidden-text': (element) => this.#hide(element),
    'text:hidden-paragraph': (element) => this.#hide(element),
    'table:table': (element) => this.#table(element),
    'table:table-row': (element) => this.#row(element),
    'table:table-cell': (element) => this.#cell(element),
    'draw:frame': (element) => this.#frame(element),
    'draw:image': (element) => this.#picture(element),
    'draw:object': (element) => this.#object(element),
    'draw:text-box': () => this.#beside(),
    'draw:custom-shape': () => this.#beside(),
    'table:covered-table-cell': this.#skip,
    'office:annotation': (element) => this.#comment(element),
    'office:annotation-end': this.#skip,
    'office:forms': this.#skip,
    'office:event-listeners': this.#skip,
    'text:tracked-changes': (element) => this.#trackedChanges(element),
    'text:change': (element) => this.#deletion(element),
    'text:change-start': (element) => this.#insertion(element, 0),
    'text:change-end': (element) => this.#insertion(element, 1),
    'text:script': this.#skip,
    'text:table-of-content-source': this.#skip,
    'text:illustration-index-source': this.#skip,
    'text:table-index-source': this.#skip,
    'text:object-index-source': this.#skip,
    'text:user-index-source': this.#skip,
    'text:alphabetical-index-source': this.#skip,
    'text:bibliography-source': this.#skip,
    'svg:title': this.#skip,
    'svg:desc': this.#skip,
    'draw:glue-point': this.#skip,
    'draw:enhanced-geometry': this.#skip,
  };

  get #inline(): Inline | undefined {
    return this.#paragraphs.at(-1)?.inline;
  }

  // Paragraphs

  #paragraph(element: XmlElement, level: number | undefined): Leave | typeof SKIP {
    const { styles, builder } = this.#context;
    const style = styles.style('paragraph', attribute(element, 'text:style-name'));
    if (
      find(element, 'text:hidden-paragraph') &&
      attribute(find(element, 'text:hidden-paragraph')!, 'text:is-hidden') === 'true' &&
      this.#hide(element)
    ) {
      return SKIP;
    }
    const isTop = this.#paragraphs.length === 0 && builder.tableDepth === 0 && this.#besideDepth === 0;
    if (this.#started && isTop && (style.breakBefore || style.masterPage !== '')) builder.breakPage({ now: true });
    this.#started = true;
    const named = headingLevelOf(style.names);
    const heading = named === TITLE ? TITLE : (level ?? named);
    const outer = this.#run;
    const { bold: _, italic: __, ...plain } = style.run;
    this.#run = heading === undefined ? style.run : plain;
    const numbered = attribute(element, 'text:is-list-header') !== 'true' && level !== undefined;
    this.#paragraphs.push({ inline: new Inline(), style, level: heading, numbered });
    return () => {
      this.#run = outer;
      this.#endParagraph();
      if (isTop && style.breakAfter) builder.breakPage({ now: true });
    };
  }

  #endParagraph(): void {
    const { inline, style, level, numbered } = this.#paragraphs.pop()!;
    const { builder } = this.#context;
    const contents = contentsLevelOf(style.names);
    if (contents !== undefined) builder.paragraph({ kind: 'text', ...contentsLine(inline, contents) });
    else if (level !== undefined) {
      if (level === TITLE) this.title ||= inline.plain().replace(/\s+/g, ' ').trim();
      const label = numbered && level !== TITLE && !inline.empty ? this.#headingLabel(level) : '';
      if (label !== '') inline.prepend(`${label} `);
      builder.paragraph({ kind: 'heading', level: htmlLevelOf(level), inline });
    } else if (inline.empty && style.names.includes('horizontal line')) builder.paragraph({ kind: 'rule', inline });
    else {
      const place = this.#place(inline);
      const kind = kindOf(style.names, inline, builder.tableDepth > 0);
      if (place === undefined || 'level' in place)
        builder.paragraph({ kind: place ? 'text' : kind, inline, list: place });
      else builder.paragraph({ kind, inline, indent: place.indent });
    }
  }

  #headingLabel(level: number): string {
    const { styles } = this.#context;
    this.#headings.next(level, styles.outlineLevel(level)?.start ?? 1);
    return this.#headings.label(level, (at) => styles.outlineLevel(at));
  }

  /** The position of the paragraph in the surrounding lists; only an indent if it continues an item. */
  #place(inline: Inline): ListPlace | { readonly indent: number } | undefined {
    const list = this.#lists.at(-1);
    if (!list) return undefined;
    const depth = this.#lists.length;
    if (!list.fresh) return { indent: depth };
    list.fresh = false;
    const { styles } = this.#context;
    const style = styles.listLevel(list.style, depth);
    const place = { level: depth - 1, key: list.style ?? '', indent: depth };
    if (list.header) return { ...place, ordered: false };
    const value = list.counter.next(depth, style?.start ?? 1);
    if (!style || style.bullet || style.format === '') return { ...place, ordered: false };
    const isPlain = style.shown <= 1 && /^\(?$/.test(style.prefix) && /^[.)]?$/.test(style.suffix);
    if (!isPlain && !inline.empty)
      inline.prepend(`${list.counter.label(depth, (at) => styles.listLevel(list.style, at))} `);
    return { ...place, ordered: isPlain, value };
  }

  #list(element: XmlElement): Leave {
    const outer = this.#lists.at(-1);
    const style = attribute(element, 'text:style-name') ?? outer?.style;
    const continuesItem =
      attribute(element, 'text:continue-numbering') === 'true' ||
      attribute(element, 'text:continue-list') !== undefined;
    const key = style ?? '';
    let counter = outer?.style === style ? outer?.counter : undefined;
    if (!counter) {
      counter = (continuesItem ? this.#counters.get(key) : undefined) ?? new Counter();
      this.#counters.set(key, counter);
    }
    if (!continuesItem) counter.restart(this.#lists.length + 1);
    this.#lists.push({ style, counter, fresh: false, header: false });
    return () => this.#lists.pop();
  }

  #item(element: XmlElement, header: boolean): undefined {
    const list = this.#lists.at(-1);
    if (!list) return undefined;
    list.fresh = true;
    list.header = header;
    const start = Number(attribute(element, 'text:start-value') ?? Number.NaN);
    if (Number.isInteger(start)) list.counter.set(this.#lists.length, start);
    return undefined;
  }

  /** Text outside the main flow, such as a note, does not inherit the surrounding lists. */
  #apart(): Leave {
    const lists = this.#lists;
    const run = this.#run;
    const href = this.#href;
    this.#lists = [];
    this.#href = undefined;
    return () => {
      this.#lists = lists;
      this.#run = run;
      this.#href = href;
    };
  }

  #beside(): Leave {
    const { builder } = this.#context;
    const restore = this.#apart();
    builder.startBeside();
    this.#besideDepth += 1;
    const inParagraph = this.#paragraphs.length > 0;
    return () => {
      this.#besideDepth -= 1;
      builder.endBeside();
      restore();
      if (!inParagraph) builder.paragraph({ kind: 'text', inline: new Inline() });
    };
  }

  // Runs

  get #marks(): Marks {
    return marksOf(this.#run, this.#href);
  }

  #span(element: XmlElement): Leave {
    const { styles } = this.#context;
    const outer = this.#run;
    const style = styles.style('text', attribute(element, 'text:style-name'));
    const isCode = style.names.some((name) => /^(?:source text|teletype|user entry)$/.test(name));
    this.#run = mergeStyles(isCode ? { ...style.run, code: true } : style.run, outer);
    if (this.#isFormattedAsHidden) this.#hidden.startPiece();
    return () => {
      this.#run = outer;
    };
  }

  get #isFormattedAsHidden(): boolean {
    return isInvisible(this.#run, this.#isOnPaper);
  }

  /** Whether content is left out because it is hidden. */
  get #isHidden(): boolean {
    return !this.#hidden.keeps && this.#isFormattedAsHidden;
  }

  get #isOnPaper(): boolean {
    const { builder } = this.#context;
    return builder.tableDepth === 0 && this.#besideDepth === 0 && !this.#paragraphs.at(-1)?.style.shaded;
  }

  #text(text: string): typeof SKIP {
    if (!this.#hidden.leavesOut(text, this.#isFormattedAsHidden)) this.#inline?.text(text, this.#marks);
    return SKIP;
  }

  #break(): typeof SKIP {
    if (!this.#isHidden) this.#inline?.break();
    return SKIP;
  }

  #pageBreak(): typeof SKIP {
    const { builder } = this.#context;
    const [paragraph] = this.#paragraphs;
    builder.breakPage({
      now: (!paragraph || paragraph.inline.empty) && this.#paragraphs.length < 2 && builder.tableDepth === 0,
    });
    return SKIP;
  }

  /** Returns SKIP if the hidden element is left out. */
  #hide(element: XmlElement): typeof SKIP | undefined {
    return this.#hidden.leavesOutPiece(() => textOf(element)) ? SKIP : undefined;
  }

  #link(element: XmlElement): Leave {
    const outer = this.#href;
    this.#href = safeHref(attribute(element, 'xlink:href') ?? '') ?? outer;
    return () => {
      this.#href = outer;
    };
  }

  #ruby(element: XmlElement): typeof SKIP {
    const base = textOf(child(element, 'text:ruby-base'));
    const reading = textOf(child(element, 'text:ruby-text'));
    if (reading === '') return this.#text(base);
    if (!this.#isHidden) this.#inline?.atom(`<ruby>${escapeText(base)}<rt>${escapeText(reading)}</rt></ruby>`);
    return SKIP;
  }

  #note(element: XmlElement): typeof SKIP {
    const body = child(element, 'text:note-body');
    if (!body || this.#isHidden || !this.#inline) return SKIP;
    const { html } = this.#context.builder.note(() => {
      const restore = this.#apart();
      for (const piece of children(body)) this.read(piece);
      restore();
    });
    this.#inline.atom(html);
    return SKIP;
  }

  // Annotations

  #comment(element: XmlElement): typeof SKIP {
    const { annotations = 'none' } = this.#context;
    const about = commentOf(element);
    if (annotations === 'none' || this.#isHidden || about.text === '') return SKIP;
    if (annotations === 'footnotes' && this.#inline) this.#annotate(noteOfComment(about));
    else this.#inline?.text(criticComment(about));
    return SKIP;
  }

  /** Writes a footnote of plain text. */
  #annotate(text: string): void {
    const { builder } = this.#context;
    const { html } = builder.note(() => {
      const inline = new Inline();
      inline.text(text);
      builder.paragraph({ kind: 'text', inline });
    });
    this.#inline?.atom(html);
  }

  readonly #changes = new Map<string, Change>();

  /** The list of changes comes before the text that it is about. */
  #trackedChanges(element: XmlElement): typeof SKIP {
    if ((this.#context.annotations ?? 'none') === 'none') return SKIP;
    for (const region of children(element, 'text:changed-region')) {
      const id = attribute(region, 'text:id') ?? attribute(region, 'xml:id');
      const [about] = children(region);
      const isChange = about?.name === 'text:insertion' || about?.name === 'text:deletion';
      if (id === undefined || !isChange) continue;
      const author = oneLine(textOf(child(child(about, 'office:change-info'), 'dc:creator')));
      const deleted = children(about).filter(({ name }) => name !== 'office:change-info');
      const kind = about.name === 'text:deletion' ? 'deleted' : 'inserted';
      this.#changes.set(id, { kind, author, text: oneLine(deleted.map(textOf).join(' ')) });
    }
    return SKIP;
  }

  #changeOf(element: XmlElement, kind: Change['kind']): Change | undefined {
    const change = this.#changes.get(attribute(element, 'text:change-id') ?? '');
    return change?.kind === kind && this.#inline && !this.#isHidden ? change : undefined;
  }

  #deletion(element: XmlElement): typeof SKIP {
    const change = this.#changeOf(element, 'deleted');
    if (!change || change.text === '') return SKIP;
    const { author, text } = change;
    if (this.#context.annotations === 'footnotes') this.#annotate(noteOfChange('deleted', author, text));
    else this.#inline?.text(DELETED.join(text));
    return SKIP;
  }

  #insertion(element: XmlElement, end: 0 | 1): typeof SKIP {
    const change = this.#changeOf(element, 'inserted');
    if (!change) return SKIP;
    if (this.#context.annotations === 'inline') this.#inline?.text(INSERTED[end]);
    else if (end === 0) change.from = this.#inline!.plain().length;
    else {
      const text = oneLine(this.#inline!.plain().slice(change.from ?? 0));
      if (text !== '') this.#annotate(noteOfChange('inserted', change.author, text));
    }
    return SKIP;
  }

  // Tables

  #table(element: XmlElement): Leave {
    const { builder } = this.#context;
    const restore = this.#apart();
    builder.startTable();
    return () => {
      builder.endTable(child(element, 'table:table-header-rows') ? true : undefined);
      restore();
    };
  }

  #row(element: XmlElement): Leave | typeof SKIP {
    const isCollapsed = /^(?:collapse|filter)$/.test(attribute(element, 'table:visibility') ?? '');
    if (isCollapsed && this.#hide(element)) return SKIP;
    this.#context.builder.startRow();
    return () => undefined;
  }

  #cell(element: XmlElement): Leave | typeof SKIP {
    const { builder } = this.#context;
    const number = (name: string) => Math.max(1, Math.min(Number(attribute(element, name) ?? '1') || 1, MAX_REPEATED));
    const repeated = number('table:number-columns-repeated');
    const isEmpty = !element.children.some(isElement);
    for (let n = 1; n < repeated && isEmpty; n++) {
      builder.startCell();
      builder.endCell();
    }
    builder.startCell({
      colspan: number('table:number-columns-spanned'),
      rowspan: number('table:number-rows-spanned'),
    });
    return () => builder.endCell();
  }

  // Drawings

  /** The text of a frame is the fallback if its content cannot be shown. */
  #frame(element: XmlElement): Leave {
    const text = textOf(child(element, 'svg:desc')) || textOf(child(element, 'svg:title'));
    const frame = { text, drawn: child(element, 'draw:text-box') !== undefined };
    this.#frames.push(frame);
    return () => {
      this.#frames.pop();
      if (!frame.drawn) this.#atom(escapeText(text));
    };
  }

  #atom(html: string): void {
    if (this.#isHidden || html === '') return;
    const inline = this.#inline ?? new Inline();
    inline.atom(html, { href: this.#href });
    if (!this.#inline) this.#context.builder.paragraph({ kind: 'text', inline });
  }

  /** A frame may contain the same image in several formats; the first that can be shown is used. */
  #picture(element: XmlElement): typeof SKIP {
    const frame = this.#frames.at(-1);
    if (frame?.drawn) return SKIP;
    const inside = child(element, 'office:binary-data');
    const picture = inside ? Buffer.from(textOf(inside), 'base64') : nameIn(element);
    const html = this.#context.draw(picture, frame?.text ?? '');
    if (!html.startsWith('<img')) return SKIP;
    this.#atom(html);
    if (frame) frame.drawn = true;
    return SKIP;
  }

  /** The title of a chart, and its stored values as a table. */
  #chart(chart: XmlElement): void {
    if (this.#isHidden) return;
    const leave = this.#beside();
    const inline = new Inline();
    const title = child(chart, 'chart:title');
    for (const line of title ? descendants(title, 'text:p') : []) inline.text(`${textOf(line)} `, { bold: true });
    this.#context.builder.paragraph({ kind: 'text', inline });
    const table = child(chart, 'table:table');
    if (table) this.read(table);
    leave();
    const frame = this.#frames.at(-1);
    if (frame) frame.drawn = true;
  }

  #object(element: XmlElement): typeof SKIP {
    const name = nameIn(element);
    const root = child(element, 'math:math') ?? (name === '' ? children(element)[0] : this.#context.object(name));
    const chart = root && find(root, 'chart:chart');
    if (chart) this.#chart(chart);
    if (root?.name !== 'math:math') return SKIP;
    const math = root;
    this.#atom(formulaHtml(math));
    const frame = this.#frames.at(-1);
    if (frame) frame.drawn = true;
    return SKIP;
  }
}

/** A reference to another file of the package. */
const nameIn = (element: XmlElement): string => (attribute(element, 'xlink:href') ?? '').replace(/^\.\//, '');

/** MathML elements and attributes that carry meaning. All others are left out. */
const MATH_ATTRIBUTES: ReadonlySet<string> = new Set([
  'display',
  'linethickness',
  'mathvariant',
  'open',
  'close',
  'notation',
  'accent',
]);

function formulaHtml(math: XmlElement): string {
  const pieces: string[] = [];
  walk(math, {
    enter(element) {
      const name = element.name.startsWith('math:') ? element.name.slice(5) : '';
      if (!/^[a-z]+$/.test(name) || name.startsWith('annotation')) return SKIP;
      const { attributes } = element;
      let tag = `<${name}`;
      for (let at = 0; at < attributes.length; at += 2) {
        if (MATH_ATTRIBUTES.has(attributes[at]!))
          tag += ` ${attributes[at]}="${escapeText(attributes[at + 1]!).replaceAll('"', '&quot;')}"`;
      }
      pieces.push(`${tag}>`);
      return () => pieces.push(`</${name}>`);
    },
    text: (text) => pieces.push(escapeText(text.trim())),
  });
  return pieces.join('');
}
