/** The text of a shape: paragraphs and list items (DrawingML, ECMA-376 part 1, 21.1.2). */
import { attribute, child, childAt, children, descendants, textOf, type XmlElement } from '../../xml/xml.ts';
import { Inline, type Marks } from '../inline.ts';
import type { ListPlace } from '../lists.ts';
import { mathml } from '../omml.ts';
import { type ParagraphKind, TextBuilder } from '../text-builder.ts';

export interface TextContext {
  /** The URL of a link; `undefined` if it is not allowed. */
  readonly href: (id: string) => string | undefined;
  /** Elements that may format a level with `a:lvl1pPr` and so on, nearest first. */
  readonly levels: readonly XmlElement[];
}

type Bullet = { readonly ordered: boolean; readonly start: number } | undefined;

const LEVELS = 9;

/** Paragraphs and lists as HTML, or a heading or quote. */
export function textHtml(body: XmlElement | undefined, kind: ParagraphKind, context: TextContext, level = 2): string {
  const builder = new TextBuilder();
  writeText(body, kind, context, builder, level);
  return builder.finish()[0]!.html;
}

export function writeText(
  body: XmlElement | undefined,
  kind: ParagraphKind,
  context: TextContext,
  builder: TextBuilder,
  level = 2,
): void {
  const paragraphs = children(body, 'a:p');
  if (kind === 'heading') {
    const inline = new Inline();
    for (const [at, paragraph] of paragraphs.entries()) {
      if (at > 0) inline.break();
      addRuns(paragraph, inline, context);
    }
    builder.paragraph({ kind, level, inline });
    return;
  }
  const styles = [child(body, 'a:lstStyle'), ...context.levels].filter((style) => style !== undefined);
  const numbers = new Numbers();
  for (const paragraph of paragraphs) {
    const inline = new Inline();
    addRuns(paragraph, inline, context);
    if (inline.empty) continue;
    const own = child(paragraph, 'a:pPr');
    const depth = Math.min(LEVELS - 1, Math.max(0, Math.floor(Number((own && attribute(own, 'lvl')) ?? 0)) || 0));
    const bullet = kind === 'text' ? bulletOf(own, depth, styles) : undefined;
    builder.paragraph({ kind, inline, list: numbers.place(depth, bullet) });
  }
}

/** The paragraph's own setting, otherwise that of its level. */
function bulletOf(own: XmlElement | undefined, depth: number, styles: readonly XmlElement[]): Bullet {
  const levels = styles.map((style) => child(style, `a:lvl${depth + 1}pPr`));
  for (const properties of [own, ...levels]) {
    for (const { name, attributes } of children(properties)) {
      if (name === 'a:buNone') return undefined;
      if (name === 'a:buChar' || name === 'a:buBlip') return { ordered: false, start: 1 };
      if (name !== 'a:buAutoNum') continue;
      const start = Number(attributes[attributes.indexOf('startAt') + 1]);
      return { ordered: true, start: attributes.includes('startAt') && start > 0 ? start : 1 };
    }
  }
  return undefined;
}

/** Counts the numbers of list items. A count ends at a paragraph that has an outer level or no number. */
class Numbers {
  private counts: (number | undefined)[] = [];

  place(depth: number, bullet: Bullet): ListPlace | undefined {
    this.counts.length = Math.min(this.counts.length, depth + 1);
    if (!bullet?.ordered) this.counts[depth] = undefined;
    if (!bullet) return undefined;
    const { ordered, start } = bullet;
    if (!ordered) return { level: depth, ordered, key: '' };
    const value = this.counts[depth] === undefined ? start : this.counts[depth]! + 1;
    this.counts[depth] = value;
    return { level: depth, ordered, value, key: 'n' };
  }
}

function addRuns(paragraph: XmlElement, inline: Inline, context: TextContext): void {
  for (const run of children(paragraph)) {
    if (run.name === 'a:br') inline.break();
    else if (run.name === 'a:r' || (run.name === 'a:fld' && attribute(run, 'type') !== 'slidenum')) {
      const text = textOf(child(run, 'a:t'));
      const [first, ...lines] = text.split(/[\v\n]/);
      const marks = marksOf(child(run, 'a:rPr'), context);
      inline.text(first!, marks);
      for (const line of lines) {
        inline.break();
        inline.text(line, marks);
      }
    } else if (run.name === 'a14:m' || run.name === 'mc:AlternateContent') {
      const holder = run.name === 'a14:m' ? run : childAt(run, 'mc:Choice', 'a14:m');
      const display = child(holder, 'm:oMathPara') !== undefined;
      if (holder) for (const formula of descendants(holder, 'm:oMath')) inline.atom(mathml(formula, display));
    }
  }
}

function marksOf(properties: XmlElement | undefined, { href }: TextContext): Marks {
  if (!properties) return {};
  const baseline = Number(attribute(properties, 'baseline') ?? 0);
  const link = child(properties, 'a:hlinkClick');
  const isOn = (name: string) => /^(?:1|true)$/.test(attribute(properties, name) ?? '');
  return {
    bold: isOn('b'),
    italic: isOn('i'),
    strike: /^(?:sng|dbl)Strike$/.test(attribute(properties, 'strike') ?? ''),
    raised: baseline > 0 ? 'sup' : baseline < 0 ? 'sub' : undefined,
    href: link && href(attribute(link, 'r:id') ?? ''),
  };
}
