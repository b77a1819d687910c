/** Tables of RTF control words: characters, formats, and groups that contain no text. */
import type { CharacterFormat, ParagraphFormat } from './format.ts';

/** Control words that represent a character. */
export const SYMBOLS: ReadonlyMap<string, string> = new Map([
  ['\\', '\\'],
  ['{', '{'],
  ['}', '}'],
  ['~', '\u00a0'],
  ['-', ''],
  ['_', '-'],
  ['tab', '\t'],
  ['emdash', '—'],
  ['endash', '–'],
  ['lquote', '‘'],
  ['rquote', '’'],
  ['ldblquote', '“'],
  ['rdblquote', '”'],
  ['bullet', '•'],
  ['emspace', ' '],
  ['enspace', ' '],
  ['qmspace', ' '],
  ['zwj', '\u200d'],
  ['zwnj', '\u200c'],
]);

/** Groups without document text. */
export const SKIPPED: ReadonlySet<string> = new Set(
  (
    'header headerl headerr headerf footer footerl footerr footerf pict nonshppict listtext pntext pntxta pntxtb ' +
    'levelnumbers listname sp shprslt ftnsep ftnsepc ftncn aftnsep aftnsepc aftncn xe tc tcn private filetbl ' +
    'revtbl annotation atnid atnauthor template fchars lchars mmathPict bkmkstart bkmkend nonesttables formfield'
  ).split(' '),
);

/** Groups marked as ignorable (`\*`) that are parsed nevertheless. */
export const SHOWN_STARRED: ReadonlySet<string> = new Set(
  'fldinst footnote annotation atnauthor shpinst listtable listoverridetable nesttableprops pn ud cs ts ds moMath moMathPara mmath company manager'.split(
    ' ',
  ),
);

const isOn = (parameter: number | undefined): boolean => parameter !== 0;

export type Change<T> = (parameter: number | undefined) => Partial<T>;

export const CHARACTERS: ReadonlyMap<string, Change<CharacterFormat>> = new Map<string, Change<CharacterFormat>>([
  ['b', (p) => ({ bold: isOn(p) })],
  ['i', (p) => ({ italic: isOn(p) })],
  ['strike', (p) => ({ strike: isOn(p) })],
  ['striked', (p) => ({ strike: isOn(p) })],
  ['v', (p) => ({ hidden: isOn(p) })],
  ['deleted', (p) => ({ deleted: isOn(p) })],
  ['super', (p) => ({ raised: isOn(p) ? 'sup' : undefined })],
  ['sub', (p) => ({ raised: isOn(p) ? 'sub' : undefined })],
  ['nosupersub', () => ({ raised: undefined })],
  // Half points. Smaller offsets are only adjustments, not superscript.
  ['up', (p = 6) => ({ raised: p >= 4 ? 'sup' : undefined })],
  ['dn', (p = 6) => ({ raised: p >= 4 ? 'sub' : undefined })],
  ['f', (p) => ({ font: p })],
  ['cf', (p) => ({ color: p ?? 0 })],
  ['highlight', (p) => ({ grounded: p !== 0 })],
  ['cb', (p) => ({ grounded: p !== 0 })],
  ['chcbpat', (p) => ({ grounded: p !== 0 })],
  ['chshdng', (p) => ({ grounded: p !== 0 })],
]);

export const PARAGRAPHS: ReadonlyMap<string, Change<ParagraphFormat>> = new Map<string, Change<ParagraphFormat>>([
  ['s', (p) => ({ style: p ?? 0 })],
  ['outlinelevel', (p) => ({ outlineLevel: p ?? 0 })],
  ['ls', (p) => ({ list: p ?? 0 })],
  ['ilvl', (p) => ({ level: p ?? 0 })],
  ['li', (p) => ({ indent: p ?? 0 })],
  ['lin', (p) => ({ indent: p ?? 0 })],
  ['intbl', (p) => ({ inTable: isOn(p) })],
  ['itap', (p) => ({ depth: p ?? 0 })],
  ['cbpat', (p) => ({ shaded: p !== 0 })],
  ['shading', (p) => ({ shaded: p !== 0 })],
  ['pagebb', (p) => ({ breaksBefore: isOn(p) })],
]);
