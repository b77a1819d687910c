/** Test helpers: workbooks built part by part, as other programs write them. */
import { strToU8, zipSync } from 'fflate';

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006/relationships';
const NAMESPACES = `xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="${OFFICE}"`;

export interface HandMadeSheet {
  readonly name?: string;
  readonly state?: string;
  /** Content of `worksheet`, or only of its `sheetData`. */
  readonly xml?: string;
  readonly rows?: string;
  /** Type, id, target. External if the target is a URL. */
  readonly relationships?: readonly (readonly [type: string, id: string, target: string])[];
}

export interface HandMade {
  readonly sheets: readonly HandMadeSheet[];
  /** The contents of `si` elements. */
  readonly strings?: readonly string[];
  /** Content of `styleSheet`. */
  readonly styles?: string;
  readonly workbook?: string;
  readonly parts?: Readonly<Record<string, string | Uint8Array>>;
}

export function workbook({
  sheets,
  strings = [],
  styles = '',
  workbook: properties = '',
  parts = {},
}: HandMade): Uint8Array {
  const files: Record<string, Uint8Array> = {};
  const add = (name: string, content: string | Uint8Array) => {
    files[name] = typeof content === 'string' ? strToU8(content) : content;
  };
  add('_rels/.rels', relationships([['officeDocument', 'rId1', 'xl/workbook.xml']]));
  add(
    'xl/_rels/workbook.xml.rels',
    relationships([
      ...sheets.map((_, at) => ['worksheet', `s${at}`, `worksheets/sheet${at}.xml`] as const),
      ['sharedStrings', 'strings', 'sharedStrings.xml'],
      ['styles', 'styles', 'styles.xml'],
    ]),
  );
  const list = sheets.map(
    ({ name = 'Data', state }, at) =>
      `<sheet name="${name}" sheetId="${at + 1}" r:id="s${at}"${state ? ` state="${state}"` : ''}/>`,
  );
  add('xl/workbook.xml', `<workbook ${NAMESPACES}>${properties}<sheets>${list.join('')}</sheets></workbook>`);
  add('xl/sharedStrings.xml', `<sst ${NAMESPACES}>${strings.map((string) => `<si>${string}</si>`).join('')}</sst>`);
  add('xl/styles.xml', `<styleSheet ${NAMESPACES}>${styles}</styleSheet>`);
  for (const [at, sheet] of sheets.entries()) {
    const content = sheet.xml ?? `<sheetData>${sheet.rows ?? ''}</sheetData>`;
    add(`xl/worksheets/sheet${at}.xml`, `<worksheet ${NAMESPACES}>${content}</worksheet>`);
    if (sheet.relationships) add(`xl/worksheets/_rels/sheet${at}.xml.rels`, relationships(sheet.relationships));
  }
  for (const [name, content] of Object.entries(parts)) add(name, content);
  return zipSync(files, { level: 6 });
}

export const relationships = (rows: readonly (readonly [type: string, id: string, target: string])[]): string =>
  `<Relationships xmlns="${PACKAGE}">${rows
    .map(([type, id, target]) => {
      const mode = /^[a-z]+:/i.test(target) ? ' TargetMode="External"' : '';
      return `<Relationship Id="${id}" Type="${OFFICE}/${type}" Target="${target.replaceAll('&', '&amp;')}"${mode}/>`;
    })
    .join('')}</Relationships>`;

/** Rows of inline texts and numbers; `undefined` omits a cell. */
export const rowsOf = (rows: readonly (readonly (string | number | undefined)[])[]): string =>
  rows
    .map((row, at) => {
      const cells = row.map((value, column) => {
        const ref = `${letters(column)}${at + 1}`;
        if (value === undefined) return '';
        return typeof value === 'number'
          ? `<c r="${ref}"><v>${value}</v></c>`
          : `<c r="${ref}" t="inlineStr"><is><t xml:space="preserve">${escapeXml(value)}</t></is></c>`;
      });
      return `<row r="${at + 1}">${cells.join('')}</row>`;
    })
    .join('');

export const escapeXml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');

function letters(column: number): string {
  return column < 26 ? String.fromCharCode(65 + column) : letters(Math.floor(column / 26) - 1) + letters(column % 26);
}
