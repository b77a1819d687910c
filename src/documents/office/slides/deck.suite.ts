/** Test helpers: presentations built part by part, as PowerPoint writes them. */
import { strToU8, zipSync } from 'fflate';
import { relationships } from '../sheet/workbook.suite.ts';

type Relationships = readonly (readonly [type: string, id: string, target: string])[];

const ROOT = 'http://schemas.openxmlformats.org';
export const NAMESPACES = `xmlns:p="${ROOT}/presentationml/2006/main" xmlns:a="${ROOT}/drawingml/2006/main" xmlns:r="${ROOT}/officeDocument/2006/relationships" xmlns:c="${ROOT}/drawingml/2006/chart" xmlns:dgm="${ROOT}/drawingml/2006/diagram" xmlns:mc="${ROOT}/markup-compatibility/2006"`;

export interface HandMadeSlide {
  /** Content of the shape tree. */
  readonly shapes: string;
  readonly attributes?: string;
  readonly relationships?: Relationships;
  /** The paragraphs of its notes. */
  readonly notes?: string;
}

export interface HandMadeDeck {
  readonly slides: readonly HandMadeSlide[];
  /** Shapes of the layout and of the master; there is one of each. */
  readonly layout?: string;
  readonly master?: string;
  /** Content of `p:txStyles`. */
  readonly styles?: string;
  readonly parts?: Readonly<Record<string, string | Uint8Array>>;
}

export function deck({ slides, layout = '', master = '', styles = '', parts = {} }: HandMadeDeck): Uint8Array {
  const files: Record<string, Uint8Array> = {};
  const add = (name: string, content: string | Uint8Array) => {
    files[name] = typeof content === 'string' ? strToU8(content) : content;
  };
  const tree = (shapes: string) => `<p:cSld><p:spTree>${shapes}</p:spTree></p:cSld>`;
  add('_rels/.rels', relationships([['officeDocument', 'r1', 'ppt/presentation.xml']]));
  add(
    'ppt/_rels/presentation.xml.rels',
    relationships(slides.map((_, at) => ['slide', `s${at}`, `slides/slide${at}.xml`])),
  );
  const list = slides.map((_, at) => `<p:sldId id="${256 + at}" r:id="s${at}"/>`).join('');
  add(
    'ppt/presentation.xml',
    `<p:presentation ${NAMESPACES}><p:sldIdLst>${list}</p:sldIdLst><p:sldSz cx="1000" cy="600"/></p:presentation>`,
  );
  add('ppt/slideLayouts/layout1.xml', `<p:sldLayout ${NAMESPACES}>${tree(layout)}</p:sldLayout>`);
  add('ppt/slideLayouts/_rels/layout1.xml.rels', relationships([['slideMaster', 'm', '../slideMasters/master1.xml']]));
  add(
    'ppt/slideMasters/master1.xml',
    `<p:sldMaster ${NAMESPACES}>${tree(master)}<p:txStyles>${styles}</p:txStyles></p:sldMaster>`,
  );
  for (const [at, slide] of slides.entries()) {
    const notes =
      slide.notes === undefined ? [] : ([['notesSlide', 'notes', `../notesSlides/notes${at}.xml`]] as const);
    add(`ppt/slides/slide${at}.xml`, `<p:sld ${NAMESPACES} ${slide.attributes ?? ''}>${tree(slide.shapes)}</p:sld>`);
    add(
      `ppt/slides/_rels/slide${at}.xml.rels`,
      relationships([
        ['slideLayout', 'layout', '../slideLayouts/layout1.xml'],
        ...notes,
        ...(slide.relationships ?? []),
      ]),
    );
    if (slide.notes !== undefined) {
      const furniture = shape({ type: 'sldNum', text: '<a:p><a:r><a:t>7</a:t></a:r></a:p>' });
      add(
        `ppt/notesSlides/notes${at}.xml`,
        `<p:notes ${NAMESPACES}>${tree(furniture + shape({ type: 'body', index: 1, text: slide.notes }))}</p:notes>`,
      );
    }
  }
  for (const [name, content] of Object.entries(parts)) add(name, content);
  return zipSync(files, { level: 6 });
}

interface Shape {
  readonly text: string;
  readonly type?: string;
  readonly index?: number;
  readonly place?: readonly [left: number, top: number, width: number, height: number];
  readonly style?: string;
  readonly facts?: string;
}

export function shape({ text, type, index, place, style = '', facts = '' }: Shape): string {
  const placeholder =
    type === undefined && index === undefined
      ? ''
      : `<p:ph ${type ? `type="${type}"` : ''} ${index === undefined ? '' : `idx="${index}"`}/>`;
  return `<p:sp><p:nvSpPr><p:cNvPr id="1" name="n" ${facts}/><p:cNvSpPr/><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:spPr>${place ? xfrm(place) : ''}</p:spPr><p:txBody><a:bodyPr/><a:lstStyle>${style}</a:lstStyle>${text}</p:txBody></p:sp>`;
}

export const xfrm = ([left, top, width, height]: readonly [number, number, number, number], tag = 'a:xfrm'): string =>
  `<${tag}><a:off x="${left}" y="${top}"/><a:ext cx="${width}" cy="${height}"/></${tag}>`;

/** A paragraph; `properties` are the attributes and children of `a:pPr`. */
export const paragraph = (text: string, level = 0, properties = ''): string =>
  `<a:p><a:pPr lvl="${level}">${properties}</a:pPr><a:r><a:t>${text}</a:t></a:r></a:p>`;
