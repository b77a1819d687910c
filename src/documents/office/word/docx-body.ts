/** Reads the text of a Word document (WordprocessingML, ISO/IEC 29500-1, chapter 17) into a TextBuilder. */
import { escapeText } from '#html/serialize.ts';
import { ownValue } from '#own-value.ts';
import type { Annotations } from '../../document.ts';
import { type Leave, SKIP, walk } from '../../xml/walk.ts';
import { attribute, child, childAt, children, find, textOf, type XmlElement } from '../../xml/xml.ts';
import {
  type Comment,
  criticComment,
  DELETED,
  INSERTED,
  noteOfChange,
  noteOfComment,
  oneLine,
} from '../annotations.ts';
import { chartHead, chartTable, readChart } from '../chart.ts';
import { symbolOf } from '../fonts.ts';
import type { HiddenText } from '../hidden-text.ts';
import { Inline, type Marks, safeHref } from '../inline.ts';
import type { ListPlace } from '../lists.ts';
import { mathml } from '../omml.ts';
import type { Package, Relationship } from '../package.ts';
import type { Draw } from '../pictures.ts';
import { isInvisible, marksOf, mergeStyles, type RunStyle } from '../run-style.ts';
import { diagramHtml } from '../slides/diagram.ts';
import { contentsLevelOf, contentsLine, headingOf, htmlLevelOf, kindOf, TITLE } from '../style-names.ts';
import type { TextBuilder } from '../text-builder.ts';
import { Fields, hrefOfField } from './fields.ts';
import type { Numbered, Numbering } from './numbering.ts';
import { shownText } from './prompts.ts';
import {
  indentOf,
  isColoredBackground,
  isOn,
  numberingOf,
  outlineLevelOf,
  type ParagraphStyle,
  runStyleOf,
  type Styles,
  valOf,
} from './styles.ts';

export interface BodyContext {
  readonly source: Package;
  readonly styles: Styles;
  readonly numbering: Numbering;
  readonly builder: TextBuilder;
  readonly draw: Draw;
  readonly hidden: HiddenText;
  /** Whether the text of a content control is only a prompt to enter text. */
  readonly isPrompt: (control: XmlElement) => boolean;
  /** Looks up a note by kind and id, with the part that contains it. */
  readonly notes: (kind: 'footnote' | 'endnote', id: string) => { element: XmlElement; part: string } | undefined;
  readonly annotations: Annotations;
  /** Looks up a comment by id. */
  readonly comments: (id: string) => Comment | undefined;
  /** Whether Word recorded its page breaks. If not, only manual page breaks count. */
  readonly marksPages: boolean;
  /** Whether white text may have a colored background. */
  readonly colored: boolean;
}

interface OpenParagraph {
  readonly inline: Inline;
  readonly properties: XmlElement | undefined;
  readonly style: ParagraphStyle;
  readonly heading: number | undefined;
  readonly base: RunStyle;
  readonly shaded: boolean;
}

type Enter = (element: XmlElement) => Leave | typeof SKIP | undefined;

export class BodyReader {
  readonly #context: BodyContext;
  readonly #paragraphs: OpenParagraph[] = [];
  readonly #chosen: (XmlElement | undefined)[] = [];
  readonly #alternatives: string[] = [];
  #relationships: ReadonlyMap<string, Relationship>;
  readonly #knownRelationships = new Map<string, ReadonlyMap<string, Relationship>>();
  /** Repeated references to the same note. */
  readonly #references = new Map<string, string>();
  #inNote = false;
  #inChange = false;
  #fields = new Fields();
  #run: RunStyle = {};
  #href: string | undefined;
  #besideDepth = 0;
  #started = false;
  /** Text of a paragraph whose end was deleted; the next paragraph continues it. */
  #carried: Inline | undefined;
  /** The first paragraph with a title style. */
  title = '';
  readonly notes = new Set<string>();

  constructor(context: BodyContext, part: string) {
    this.#context = context;
    this.#relationships = this.#relationshipsOf(part);
  }

  #relationshipsOf(part: string): ReadonlyMap<string, Relationship> {
    let known = this.#knownRelationships.get(part);
    if (!known) {
      known = new Map(this.#context.source.relationships(part).map((item) => [item.id, item]));
      this.#knownRelationships.set(part, known);
    }
    return known;
  }

  /** Reads a child of the body. */
  read(piece: XmlElement): void {
    walk(piece, { enter: this.#enter });
  }

  readonly #enter: Enter = (element) => ownValue(this.#handlers, element.name)?.(element);

  readonly #skip: Enter = () => SKIP;

  readonly #handlers: Readonly<Record<string, Enter | undefined>> = {
    'w:p': (element) => this.#paragraph(element),
    'w:r': (element) => this.#enterRun(element),
    'w:t': (element) => this.#text(textOf(element)),
    'w:tab': () => this.#text('\t'),
    'w:ptab': () => this.#text('\t'),
    'w:noBreakHyphen': () => this.#text('-'),
    'w:cr': () => this.#break(),
    'w:br': (element) => (attribute(element, 'w:type') === 'page' ? this.#pageBreak(false) : this.#break()),
    'w:lastRenderedPageBreak': () => this.#pageBreak(true),
    'w:sym': (element) => this.#symbol(element),
    'w:hyperlink': (element) => this.#link(this.#target(attribute(element, 'r:id'))),
    'w:fldSimple': (element) => this.#link(hrefOfField(attribute(element, 'w:instr') ?? '')),
    'w:fldChar': (element) => this.#field(element),
    'w:instrText': (element) => {
      this.#fields.instruction(textOf(element));
      return SKIP;
    },
    'w:footnoteReference': (element) => this.#note('footnote', element),
    'w:endnoteReference': (element) => this.#note('endnote', element),
    'w:tbl': (element) => this.#table(element),
    'w:tr': (element) => this.#row(element),
    'w:tc': (element) => this.#cell(element),
    'w:sdt': (element) => (this.#context.isPrompt(element) ? SKIP : undefined),
    'w:ruby': (element) => this.#ruby(element),
    'w:drawing': (element) => this.#drawing(element),
    'w:pict': (element) => this.#shape(element),
    'w:object': (element) => this.#shape(element),
    'a:blip': (element) => this.#picture(attribute(element, 'r:embed')),
    'v:imagedata': (element) => this.#picture(attribute(element, 'r:id')),
    'c:chart': (element) => this.#chart(element),
    'dgm:relIds': (element) => this.#diagram(element),
    'w:txbxContent': () => this.#beside(),
    'mc:AlternateContent': (element) => this.#alternate(element),
    'mc:Choice': (element) => (this.#chosen.at(-1) === element ? undefined : SKIP),
    'mc:Fallback': (element) => (this.#chosen.at(-1) === element ? undefined : SKIP),
    'm:oMathPara': (element) => this.#formulas(element),
    'm:oMath': (element) => this.#formula(element, false),
    'w:altChunk': () => {
      this.notes.add('A file inside the document was left out');
      return SKIP;
    },
    'w:commentReference': (element) => this.#comment(element),
    'w:ins': (element) => this.#change(element, 'inserted'),
    'w:moveTo': (element) => this.#change(element, 'inserted'),
    'w:del': (element) => this.#change(element, 'deleted'),
    'w:moveFrom': (element) => this.#change(element, 'deleted'),
    'w:delText': (element) => this.#text(textOf(element)),
    'w:pPr': this.#skip,
    'w:rPr': this.#skip,
    'w:tblPr': this.#skip,
    'w:tblGrid': this.#skip,
    'w:trPr': this.#skip,
    'w:tcPr': this.#skip,
    'w:sdtPr': this.#skip,
    'w:sectPr': this.#skip,
  };

  get #inline(): Inline | undefined {
    return this.#paragraphs.at(-1)?.inline;
  }

  get #marks(): Marks {
    const marks = marksOf(this.#run, this.#href ?? this.#fields.href);
    return this.#context.styles.allCode ? { ...marks, code: false } : marks;
  }

  // Paragraphs

  #paragraph(element: XmlElement): Leave {
    const { styles, builder, marksPages } = this.#context;
    const properties = child(element, 'w:pPr');
    const style = styles.paragraph(valOf(properties, 'w:pStyle'));
    const heading = headingOf(style.names, outlineLevelOf(properties) ?? style.outlineLevel);
    const breaksBefore = isOn(properties, 'w:pageBreakBefore') ?? style.breakBefore;
    if (breaksBefore && !marksPages && this.#started && this.#isTopLevel) builder.breakPage({ now: true });
    this.#started = true;
    const { bold: _, italic: __, ...plain } = style.run;
    this.#paragraphs.push({
      inline: this.#carried ?? new Inline(),
      properties,
      style,
      heading,
      base: heading === undefined ? style.run : plain,
      shaded: style.shaded || isColoredBackground(child(properties, 'w:shd')),
    });
    this.#carried = undefined;
    return () => this.#endParagraph();
  }

  get #isTopLevel(): boolean {
    return this.#paragraphs.length === 0 && this.#context.builder.tableDepth === 0 && this.#besideDepth === 0;
  }

  #endParagraph(): void {
    const paragraph = this.#paragraphs.pop()!;
    const { inline, properties, style, heading } = paragraph;
    const mark = childAt(properties, 'w:rPr');
    if ((child(mark, 'w:del') || isOn(mark, 'w:specVanish')) && this.#paragraphs.length === 0) {
      this.#carried = inline;
      return;
    }
    const { builder } = this.#context;
    const contents = contentsLevelOf([style.name]);
    const numbered = contents === undefined ? this.#number(properties, style) : undefined;
    const indent = indentOf(properties) ?? numbered?.indent ?? style.indent;
    if (inline.empty && isRule(properties)) builder.paragraph({ kind: 'rule', inline });
    else if (contents !== undefined) builder.paragraph({ kind: 'text', ...contentsLine(inline, contents) });
    else if (heading !== undefined) {
      if (heading === TITLE) this.title ||= inline.plain().replace(/\s+/g, ' ').trim();
      if (numbered?.label && !inline.empty) inline.prepend(`${numbered.label} `);
      builder.paragraph({ kind: 'heading', level: htmlLevelOf(heading), inline });
    } else if (numbered && (numbered.bullet || numbered.label !== '')) {
      builder.paragraph({ kind: 'text', inline, list: listPlace(numbered, inline, indent) });
    } else {
      const leavesCode = style.run.code === true && !this.#context.styles.allCode && !inline.hasCode;
      builder.paragraph({ kind: kindOf(style.names, inline, builder.tableDepth > 0, leavesCode), inline, indent });
    }
  }

  #number(properties: XmlElement | undefined, style: ParagraphStyle): Numbered | undefined {
    const { numbering } = this.#context;
    const own = numberingOf(properties);
    const numId = own?.numId ?? style.numbering?.numId;
    if (numId === undefined || numId === '0') return undefined;
    const bound = own?.numId === undefined ? numbering.levelOfStyle(numId, style.id) : undefined;
    return numbering.next(numId, own?.level ?? bound ?? style.numbering?.level ?? 0);
  }

  /** At the end of a cell or of the document, a deleted paragraph end still ends the paragraph. */
  flush(): void {
    const inline = this.#carried;
    this.#carried = undefined;
    if (inline) this.#context.builder.paragraph({ kind: 'text', inline });
  }

  #beside(): Leave {
    const { builder } = this.#context;
    builder.startBeside();
    this.#besideDepth += 1;
    const run = this.#run;
    const fields = this.#fields;
    this.#fields = new Fields();
    return () => {
      this.#fields = fields;
      this.#run = run;
      this.#besideDepth -= 1;
      builder.endBeside();
    };
  }

  // Runs

  #enterRun(element: XmlElement): Leave {
    const { styles } = this.#context;
    const properties = child(element, 'w:rPr');
    const { base = {} } = this.#paragraphs.at(-1) ?? {};
    const outer = this.#run;
    const named = styles.character(valOf(properties, 'w:rStyle'));
    this.#run = mergeStyles(runStyleOf(properties), mergeStyles(named, base));
    if (this.#isFormattedAsHidden && element.children.some((node) => typeof node !== 'string' && node.name === 'w:t')) {
      this.#context.hidden.startPiece();
    }
    return () => {
      this.#run = outer;
    };
  }

  get #isFormattedAsHidden(): boolean {
    return isInvisible(this.#run, this.#isOnPaper);
  }

  /** Whether content is left out because it is hidden. */
  get #isHidden(): boolean {
    return !this.#context.hidden.keeps && this.#isFormattedAsHidden;
  }

  /** Whether the text is on a white background, as far as known. */
  get #isOnPaper(): boolean {
    const { builder, colored } = this.#context;
    return !colored && builder.tableDepth === 0 && this.#besideDepth === 0 && !this.#paragraphs.at(-1)?.shaded;
  }

  #text(text: string): typeof SKIP {
    if (this.#fields.shows && !this.#context.hidden.leavesOut(text, this.#isFormattedAsHidden))
      this.#inline?.text(text, this.#marks);
    return SKIP;
  }

  #break(): typeof SKIP {
    if (!this.#isHidden && this.#fields.shows) this.#inline?.break();
    return SKIP;
  }

  #pageBreak(rendered: boolean): typeof SKIP {
    const { builder, marksPages } = this.#context;
    if (rendered !== marksPages) return SKIP;
    const [paragraph] = this.#paragraphs;
    const atStart = this.#paragraphs.length === 1 && paragraph!.inline.empty && builder.tableDepth === 0;
    builder.breakPage({ now: atStart });
    return SKIP;
  }

  #symbol(element: XmlElement): typeof SKIP {
    const code = Number.parseInt(attribute(element, 'w:char') ?? '', 16);
    if (code > 0 && code <= 0x10ffff) this.#text(symbolOf(attribute(element, 'w:font') ?? '', code));
    return SKIP;
  }

  #ruby(element: XmlElement): typeof SKIP {
    const textIn = (name: string) => {
      const holder = child(element, name);
      return holder ? [...runsOf(holder)].join('') : '';
    };
    const [base, reading] = [textIn('w:rubyBase'), textIn('w:rt')];
    if (reading === '') this.#text(base);
    else if (!this.#isHidden) this.#inline?.atom(`<ruby>${escapeText(base)}<rt>${escapeText(reading)}</rt></ruby>`);
    return SKIP;
  }

  // Links and fields

  #target(id: string | undefined): string | undefined {
    const found = id === undefined ? undefined : this.#relationships.get(id);
    return found?.external ? safeHref(found.target) : undefined;
  }

  #link(href: string | undefined): Leave {
    const outer = this.#href;
    this.#href = href ?? outer;
    return () => {
      this.#href = outer;
    };
  }

  #field(element: XmlElement): typeof SKIP {
    const type = attribute(element, 'w:fldCharType');
    if (type === 'begin') {
      const box = childAt(element, 'w:ffData', 'w:checkBox');
      if (box) this.#text((isOn(box, 'w:checked') ?? isOn(box, 'w:default')) ? '☑' : '☐');
      this.#fields.begin();
    } else if (type === 'separate') this.#fields.separate();
    else if (type === 'end') this.#fields.end();
    return SKIP;
  }

  // Notes

  #note(kind: 'footnote' | 'endnote', element: XmlElement): typeof SKIP {
    const { notes, builder } = this.#context;
    const id = attribute(element, 'w:id') ?? '';
    const note = notes(kind, id);
    // Notes inside notes are ignored, because they could be cyclic.
    if (!note || this.#isHidden || !this.#inline || this.#inNote) return SKIP;
    const key = `${kind} ${id}`;
    let reference = this.#references.get(key);
    if (reference === undefined) {
      const { html, again } = builder.note(() => this.#readNote(note));
      this.#inline.atom(html);
      reference = again;
      this.#references.set(key, reference);
    } else this.#inline.atom(reference);
    return SKIP;
  }

  #readNote({ element, part }: { element: XmlElement; part: string }): void {
    const relationships = this.#relationships;
    const fields = this.#fields;
    this.#relationships = this.#relationshipsOf(part);
    this.#fields = new Fields();
    this.#inNote = true;
    for (const piece of children(element)) this.read(piece);
    this.flush();
    this.#inNote = false;
    this.#relationships = relationships;
    this.#fields = fields;
  }

  // Annotations

  #comment(element: XmlElement): typeof SKIP {
    const { annotations, comments } = this.#context;
    const about = annotations === 'none' || this.#isHidden ? undefined : comments(attribute(element, 'w:id') ?? '');
    if (!about?.text) return SKIP;
    if (annotations === 'footnotes' && !this.#inNote) this.#annotate(noteOfComment(about));
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

  #change(element: XmlElement, kind: 'inserted' | 'deleted'): Leave | typeof SKIP | undefined {
    const { annotations } = this.#context;
    const unmarked = kind === 'deleted' ? SKIP : undefined;
    if (annotations === 'none' || this.#isHidden || !this.#inline) return unmarked;
    // Of changes inside changes, such as a deletion in an insertion, only the outer one is marked.
    const text = this.#inChange ? '' : changedText(element, kind === 'deleted' ? 'w:delText' : 'w:t');
    if (text === '') return unmarked;
    if (annotations === 'inline' || this.#inNote) {
      const [start, end] = kind === 'deleted' ? DELETED : INSERTED;
      this.#inline.text(start);
      this.#inChange = true;
      return () => {
        this.#inChange = false;
        this.#inline?.text(end);
      };
    }
    const note = noteOfChange(kind, oneLine(attribute(element, 'w:author') ?? ''), text);
    if (kind === 'inserted') {
      this.#inChange = true;
      return () => {
        this.#inChange = false;
        this.#annotate(note);
      };
    }
    this.#annotate(note);
    return SKIP;
  }

  // Tables

  #table(element: XmlElement): Leave {
    const { builder, styles } = this.#context;
    this.flush();
    builder.startTable();
    const properties = child(element, 'w:tblPr');
    const header = marksHeader(properties, styles.marksFirstRow(valOf(properties, 'w:tblStyle')));
    return () => builder.endTable(header);
  }

  #row(element: XmlElement): Leave | typeof SKIP {
    const { builder, hidden } = this.#context;
    const properties = child(element, 'w:trPr');
    if (child(properties, 'w:del')) return SKIP;
    if (isOn(properties, 'w:hidden') && hidden.leavesOutPiece(() => shownText(element))) return SKIP;
    const skipped = Number(valOf(properties, 'w:gridBefore')) || 0;
    builder.startRow({ header: isOn(properties, 'w:tblHeader') ?? false, skipped });
    return () => undefined;
  }

  #cell(element: XmlElement): Leave {
    const { builder } = this.#context;
    const properties = child(element, 'w:tcPr');
    const merge = child(properties, 'w:vMerge');
    builder.startCell({
      colspan: Math.max(1, Number(valOf(properties, 'w:gridSpan')) || 1),
      continues: merge !== undefined && attribute(merge, 'w:val') !== 'restart',
    });
    const paragraphs = this.#paragraphs.splice(0);
    return () => {
      this.flush();
      this.#paragraphs.push(...paragraphs);
      builder.endCell();
    };
  }

  // Drawings

  #drawing(element: XmlElement): Leave | typeof SKIP {
    const about = find(element, 'wp:docPr');
    if (about && isOn0(attribute(about, 'hidden')) && this.#context.hidden.leavesOutPiece(() => shownText(element)))
      return SKIP;
    const decorative = find(element, 'adec:decorative');
    if (decorative && attribute(decorative, 'val') === '1') return SKIP;
    return this.#alternative(about && (attribute(about, 'descr') || attribute(about, 'title')));
  }

  #shape(element: XmlElement): Leave {
    const rule = find(element, 'v:rect');
    if (rule && /^t/.test(attribute(rule, 'o:hr') ?? ''))
      this.#context.builder.paragraph({ kind: 'rule', inline: new Inline() });
    const shape = find(element, 'v:shape');
    return this.#alternative(shape && attribute(shape, 'alt'));
  }

  /** Stores alt text for the images inside; without images, the text itself is shown. */
  #alternative(text = ''): Leave {
    this.#alternatives.push(text);
    return () => {
      const left = this.#alternatives.pop()!;
      if (left !== '' && !this.#isHidden) this.#inline?.atom(escapeText(left), { href: this.#href });
    };
  }

  #picture(id: string | undefined): typeof SKIP {
    const found = id === undefined ? undefined : this.#relationships.get(id);
    if (this.#isHidden) return SKIP;
    const name = found && !found.external ? found.target : undefined;
    const at = this.#alternatives.length - 1;
    this.#inline?.atom(this.#context.draw(name, this.#alternatives[at] ?? ''), { href: this.#href });
    if (at >= 0) this.#alternatives[at] = '';
    return SKIP;
  }

  /** The values of a chart, after the paragraph in which it is anchored. */
  #chart(element: XmlElement): typeof SKIP {
    const chart = readChart(this.#objectPart(attribute(element, 'r:id')));
    this.#writeBeside([
      ['text', chartHead(chart)],
      ['table', chartTable(chart)],
    ]);
    return SKIP;
  }

  /** The texts of SmartArt. */
  #diagram(element: XmlElement): typeof SKIP {
    const root = this.#objectPart(attribute(element, 'r:dm'));
    this.#writeBeside([['other', diagramHtml(root, { href: () => undefined, levels: [] })]]);
    return SKIP;
  }

  #objectPart(id: string | undefined): XmlElement | undefined {
    const found = this.#relationships.get(id ?? '');
    return found && !found.external && !this.#isHidden ? this.#context.source.xml(found.target) : undefined;
  }

  #writeBeside(blocks: readonly (readonly [kind: 'text' | 'table' | 'other', html: string])[]): void {
    const { builder } = this.#context;
    builder.startBeside();
    for (const [kind, html] of blocks) builder.written(kind, html);
    builder.endBeside();
    // The names that programs give to such objects say nothing about them.
    const at = this.#alternatives.length - 1;
    if (
      at >= 0 &&
      blocks.some(([, html]) => html !== '') &&
      /^\s*(?:chart|diagram)\s*\d*\s*$/i.test(this.#alternatives[at]!)
    )
      this.#alternatives[at] = '';
  }

  /** Reads the first supported choice, otherwise the fallback. */
  #alternate(element: XmlElement): Leave {
    const choice = children(element, 'mc:Choice').find((item) =>
      /^(?:wps|wpg|wpc|w14|w15|wp14|a14|p14|v|cx\d?)$/.test(attribute(item, 'Requires') ?? ''),
    );
    this.#chosen.push(choice ?? child(element, 'mc:Fallback'));
    return () => this.#chosen.pop();
  }

  // Formulas

  #formulas(element: XmlElement): typeof SKIP {
    for (const formula of children(element, 'm:oMath')) this.#formula(formula, true);
    return SKIP;
  }

  #formula(element: XmlElement, display: boolean): typeof SKIP {
    if (!this.#isHidden) this.#inline?.atom(mathml(element, display));
    return SKIP;
  }
}

/** The text of an insertion or deletion, in one line. */
function changedText(element: XmlElement, name: 'w:t' | 'w:delText'): string {
  let text = '';
  walk(element, {
    enter(inner) {
      if (inner.name !== name) return undefined;
      text += textOf(inner);
      return SKIP;
    },
  });
  return oneLine(text);
}

const isOn0 = (value: string | undefined): boolean => value === '1' || value === 'true';

function* runsOf(holder: XmlElement): Generator<string> {
  for (const run of children(holder, 'w:r')) for (const text of children(run, 'w:t')) yield textOf(text);
}

function listPlace(numbered: Numbered, inline: Inline, indent: number | undefined): ListPlace {
  const { level, bullet, plain, value, label, key } = numbered;
  if (!bullet && !plain && !inline.empty) inline.prepend(`${label} `);
  return { level, ordered: !bullet && plain, value, key, indent };
}

/** An empty paragraph with a border above or below. */
function isRule(properties: XmlElement | undefined): boolean {
  const borders = child(properties, 'w:pBdr');
  return children(borders).some(
    ({ name, attributes }) =>
      (name === 'w:bottom' || name === 'w:top') && !attributes.includes('nil') && !attributes.includes('none'),
  );
}

/** Whether the table marks its first row as a header; `undefined` if it does not specify this. */
function marksHeader(properties: XmlElement | undefined, styleMarks: boolean): boolean | undefined {
  const look = child(properties, 'w:tblLook');
  if (!look) return undefined;
  const first = attribute(look, 'w:firstRow');
  const on = first === undefined ? (Number.parseInt(attribute(look, 'w:val') ?? '0', 16) & 0x20) !== 0 : isOn0(first);
  return on ? (styleMarks ? true : undefined) : false;
}
