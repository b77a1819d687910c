/** Maps file types to the modules that read them. Each module is loaded on first use. */
import { ownValue } from '#own-value.ts';
import { TYPES } from './detect.ts';
import type { DocumentKind } from './document.ts';

type Load = () => Promise<{ readonly kind: DocumentKind }>;

const xml: Load = () => import('./text/xml.ts');
const csv: Load = () => import('./text/csv.ts');
const text: Load = () => import('./text/text.ts');
const image: Load = () => import('./image/image.ts');

const KINDS: Readonly<Record<string, Load>> = {
  [TYPES.pdf]: () => import('./pdf/pdf.ts'),
  [TYPES.docx]: () => import('./office/word/docx.ts'),
  [TYPES.wordXml]: () => import('./office/word/word-xml.ts'),
  [TYPES.odt]: () => import('./office/word/odt.ts'),
  [TYPES.rtf]: () => import('./office/rtf/rtf.ts'),
  [TYPES.xlsx]: () => import('./office/sheet/xlsx.ts'),
  [TYPES.excelXml]: () => import('./office/sheet/excel-xml.ts'),
  [TYPES.ods]: () => import('./office/sheet/ods.ts'),
  [TYPES.pptx]: () => import('./office/slides/pptx.ts'),
  [TYPES.odp]: () => import('./office/slides/odp.ts'),
  [TYPES.epub]: () => import('./epub/epub.ts'),
  [TYPES.eml]: () => import('./email/eml.ts'),
  [TYPES.msg]: () => import('./email/msg.ts'),
  [TYPES.csv]: csv,
  [TYPES.tsv]: csv,
  [TYPES.jsonFeed]: text,
};

/** The kind of a type; `undefined` if the type is not supported. */
export async function kindOf(mediaType: string): Promise<DocumentKind | undefined> {
  const load =
    ownValue(KINDS, mediaType) ??
    (mediaType.startsWith('image/') ? image : /[/+]xml$/.test(mediaType) ? xml : undefined);
  return load && (await load()).kind;
}
