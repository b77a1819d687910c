/**
 * Word documents in Office Open XML: DOCX and DOTX with or without macros, Strict or Transitional, or as one XML file.
 */
import { DocumentError, type DocumentKind, type ParsedDocument, type ParseOptions } from '../../document.ts';
import { readPieces } from '../../xml/pieces.ts';
import { attribute, child, children, type XmlElement } from '../../xml/xml.ts';
import { type Comment, comment } from '../annotations.ts';
import { type HiddenText, readWithHiddenText } from '../hidden-text.ts';
import { openPackage, type Package } from '../package.ts';
import { createDraw } from '../pictures.ts';
import { readProperties } from '../properties.ts';
import { CUT_OFF, selectPages, TOO_LONG } from '../result.ts';
import { TextBuilder } from '../text-builder.ts';
import { BodyReader } from './docx-body.ts';
import { readNumbering } from './numbering.ts';
import { createPromptTest, shownText } from './prompts.ts';
import { readStyles } from './styles.ts';

export const kind: DocumentKind = {
  async parse(_file, bytes, options) {
    const source = openPackage(bytes);
    return readWithHiddenText((hidden) => readText(source, hidden, options));
  },
};

export function readText(source: Package, hidden: HiddenText, options: ParseOptions): ParsedDocument {
  const main = mainPart(source);
  const related = new Map(source.relationships(main).map(({ type, target }) => [type, target]));
  const styles = readStyles(source.xml(related.get('styles')));
  const builder = new TextBuilder();
  const draw = createDraw((name) => source.bytes(name));
  const reader = new BodyReader(
    {
      source,
      styles,
      numbering: readNumbering(source.xml(related.get('numbering')), (id) => styles.numberingOf(id)),
      builder,
      hidden,
      isPrompt: createPromptTest(styles, () => source.xml(related.get('glossaryDocument'))),
      draw,
      notes: noteFinder(source, related),
      annotations: options.annotations ?? 'none',
      comments: commentFinder(source, related),
      ...marksOf(source, main),
    },
    main,
  );
  const complete = readBody(source, main, reader, builder);
  reader.flush();
  const notes = [...reader.notes];
  const pages = builder.finish();
  notes.push(...hidden.notes);
  if (!complete || !source.complete) notes.push(CUT_OFF);
  if (builder.full) notes.push(TOO_LONG);
  const { title, metadata, publishedTime, language } = readProperties(source);
  return {
    title: title || reader.title,
    ...selectPages(pages, options),
    metadata,
    publishedTime,
    lang: language ?? styles.language,
    notes,
    hiddenCount: hidden.pieces,
    picturesLeftOut: draw.leftOut(),
  };
}

function mainPart(source: Package): string {
  const found = source.relationships('').find(({ type, external }) => type === 'officeDocument' && !external);
  const name = found?.target ?? 'word/document.xml';
  if (!source.part(name)) throw new DocumentError('damaged', 'The file is damaged or is not a Word document');
  return name;
}

const BODY: ReadonlySet<string> = new Set(['w:body']);

/** Returns false if the body is incomplete. */
function readBody(source: Package, main: string, reader: BodyReader, builder: TextBuilder): boolean {
  const part = source.part(main)!;
  let count = 0;
  const take = (piece: XmlElement) => {
    count += 1;
    if (!builder.full) reader.read(piece);
  };
  let complete = part.complete;
  if (part.tree) for (const piece of children(child(part.tree, 'w:body'))) take(piece);
  else if (!readPieces(part.source!, BODY, take)) complete = false;
  if (count === 0) throw new DocumentError('damaged', 'The file is damaged or is not a Word document');
  return complete;
}

/** Searches the raw bytes, because both values must be known before the text is parsed. */
function marksOf(source: Package, main: string): { readonly marksPages: boolean; readonly colored: boolean } {
  const { source: text } = source.part(main)!;
  if (text === undefined || typeof text === 'string') return { marksPages: false, colored: true };
  const bytes = Buffer.from(text.buffer, text.byteOffset, text.byteLength);
  return {
    marksPages: bytes.includes(':lastRenderedPageBreak'),
    colored: bytes.subarray(0, 64 * 1024).includes(':background '),
  };
}

/** Comments are parsed when the first reference occurs. */
function commentFinder(source: Package, related: ReadonlyMap<string, string>) {
  let known: ReadonlyMap<string, Comment> | undefined;
  const read = () => {
    const all = children(source.xml(related.get('comments')), 'w:comment');
    return new Map(
      all.map((one) => {
        const text = children(one).map(shownText).join(' ');
        return [attribute(one, 'w:id') ?? '', comment(attribute(one, 'w:author') ?? '', text)];
      }),
    );
  };
  return (id: string): Comment | undefined => {
    known ??= read();
    return known.get(id);
  };
}

type NoteKind = 'footnote' | 'endnote';

/** Notes are parsed when the first reference occurs. */
function noteFinder(source: Package, related: ReadonlyMap<string, string>) {
  const read = (noteKind: NoteKind): ReadonlyMap<string, { element: XmlElement; part: string }> => {
    const part = related.get(`${noteKind}s`);
    if (part === undefined) return new Map();
    return new Map(
      children(source.xml(part), `w:${noteKind}`)
        .filter((element) => /^(?:normal)?$/.test(attribute(element, 'w:type') ?? ''))
        .map((element) => [attribute(element, 'w:id') ?? '', { element, part }]),
    );
  };
  const known = new Map<NoteKind, ReturnType<typeof read>>();
  return (noteKind: NoteKind, id: string) => {
    if (!known.has(noteKind)) known.set(noteKind, read(noteKind));
    return known.get(noteKind)!.get(id);
  };
}
