/** Writes the elements of a document as a DoclingDocument. */
import { createHash } from 'node:crypto';
import { ownValue } from '#own-value.ts';
import type { ContentElement, Page, TableCell } from '#reader/index.ts';

/** The version of the schema that the output has. */
const SCHEMA_VERSION = '1.5.0';
const BODY = '#/body';

export interface DocumentSource {
  readonly name: string;
  readonly filename: string;
  readonly mediaType: string;
  readonly pages: Page['pages'];
}

type Ref = { readonly $ref: string };
const ref = (to: string): Ref => ({ $ref: to });

export function doclingDocument(elements: readonly ContentElement[], source: DocumentSource): object {
  const body: Ref[] = [];
  const groups: object[] = [];
  const texts: object[] = [];
  const tables: object[] = [];
  const pictures: object[] = [];
  let list: { readonly self: string; readonly children: Ref[] } | undefined;
  for (const element of elements) {
    if (element.kind !== 'list item') list = undefined;
    else if (!list) {
      list = { self: `#/groups/${groups.length}`, children: [] };
      groups.push({
        ...node(list.self, BODY),
        children: list.children,
        name: 'list',
        label: 'list',
      });
      body.push(ref(list.self));
    }
    const parent = list?.self ?? BODY;
    const children = list?.children ?? body;
    const add = (kind: string, into: object[], facts: object) => {
      const self = `#/${kind}/${into.length}`;
      into.push({ ...node(self, parent), prov: provenance(element), ...facts });
      children.push(ref(self));
    };
    if (element.kind === 'table') add('tables', tables, tableFacts(element.rows ?? []));
    else if (element.kind === 'picture') add('pictures', pictures, pictureFacts(element));
    else add('texts', texts, textFacts(element));
  }
  return {
    schema_name: 'DoclingDocument',
    version: SCHEMA_VERSION,
    name: source.name,
    origin: {
      mimetype: source.mediaType,
      binary_hash: hashOf(source.filename, elements),
      filename: source.filename,
    },
    furniture: { ...root('#/furniture', 'furniture'), children: [] },
    body: { ...root(BODY, 'body'), children: body },
    groups,
    texts,
    pictures,
    tables,
    key_value_items: [],
    form_items: [],
    pages: Object.fromEntries(
      (source.pages ?? []).flatMap(({ number, width, height }) =>
        width === undefined || height === undefined
          ? []
          : [[String(number), { size: { width, height }, page_no: number }]],
      ),
    ),
  };
}

const root = (self: string, layer: string) => ({
  self_ref: self,
  content_layer: layer,
  name: '_root_',
  label: 'unspecified',
});

const node = (self: string, parent: string) => ({
  self_ref: self,
  parent: ref(parent),
  children: [] as Ref[],
  content_layer: 'body',
});

/** Readers of this format store the hash as an unsigned number that JavaScript can represent. */
function hashOf(filename: string, elements: readonly ContentElement[]): number {
  const hash = createHash('sha256').update(filename);
  for (const { text } of elements) hash.update(`\0${text}`);
  return hash.digest().readUIntBE(0, 6);
}

/** The format has no place without a rectangle. */
const provenance = ({ page, box, text }: ContentElement) =>
  page === undefined || !box
    ? []
    : [
        {
          page_no: page,
          bbox: { l: box.x, t: box.y, r: box.x + box.width, b: box.y + box.height, coord_origin: 'TOPLEFT' },
          charspan: [0, text.length],
        },
      ];

const LABELS: Readonly<Record<string, string>> = { code: 'code', formula: 'formula', caption: 'caption' };

function textFacts({ kind, text, level = 1, isNumbered = false }: ContentElement): object {
  const own = { orig: text, text };
  if (kind === 'heading') {
    return level === 1 ? { label: 'title', ...own } : { label: 'section_header', ...own, level: level - 1 };
  }
  if (kind === 'list item')
    return { label: 'list_item', ...own, enumerated: isNumbered, marker: isNumbered ? '' : '-' };
  if (kind === 'code')
    return { label: 'code', ...own, captions: [], references: [], footnotes: [], code_language: 'unknown' };
  return { label: ownValue(LABELS, kind) ?? 'text', ...own };
}

function pictureFacts({ url, text }: ContentElement): object {
  const mimetype = /^data:([a-z/+.-]+)[;,]/.exec(url ?? '')?.[1];
  return {
    label: 'picture',
    captions: [],
    references: [],
    footnotes: [],
    ...(mimetype && { image: { mimetype, dpi: 72, size: { width: 0, height: 0 }, uri: url } }),
    annotations: text ? [{ kind: 'description', text, provenance: 'alt text' }] : [],
  };
}

/** Cells beyond this number are not placed, so that spans of hostile files cannot fill the memory. */
const MAX_CELLS = 100_000;

interface PlacedCell {
  readonly text: string;
  readonly row_span: number;
  readonly col_span: number;
  readonly start_row_offset_idx: number;
  readonly end_row_offset_idx: number;
  readonly start_col_offset_idx: number;
  readonly end_col_offset_idx: number;
  readonly column_header: boolean;
  readonly row_header: boolean;
  readonly row_section: boolean;
}

function tableFacts(rows: readonly (readonly TableCell[])[]): object {
  const { cells, grid } = placeCells(rows);
  const columns = Math.max(0, ...grid.map((row) => row.length));
  const full = grid.map((row, at) =>
    Array.from({ length: columns }, (_, column) => row[column] ?? emptyCell(at, column)),
  );
  return {
    label: 'table',
    captions: [],
    references: [],
    footnotes: [],
    data: { table_cells: cells, num_rows: rows.length, num_cols: columns, grid: full },
  };
}

/** Places the cells on a grid as HTML does: each in the first free column of its row. */
function placeCells(rows: readonly (readonly TableCell[])[]): { cells: PlacedCell[]; grid: PlacedCell[][] } {
  const grid: PlacedCell[][] = rows.map(() => []);
  const cells: PlacedCell[] = [];
  let placed = 0;
  rows.forEach((row, at) => {
    let column = 0;
    for (const { text, isHeader, colspan, rowspan } of row) {
      while (grid[at]![column]) column += 1;
      const height = Math.min(rowspan, rows.length - at);
      placed += height * colspan;
      if (placed > MAX_CELLS) return;
      const isColumnHeader = isHeader && row.every((cell) => cell.isHeader);
      const cell: PlacedCell = {
        text,
        row_span: height,
        col_span: colspan,
        start_row_offset_idx: at,
        end_row_offset_idx: at + height,
        start_col_offset_idx: column,
        end_col_offset_idx: column + colspan,
        column_header: isColumnHeader,
        row_header: isHeader && !isColumnHeader,
        row_section: false,
      };
      cells.push(cell);
      for (let down = 0; down < height; down++) {
        for (let right = 0; right < colspan; right++) grid[at + down]![column + right] ??= cell;
      }
      column += colspan;
    }
  });
  return { cells, grid };
}

const emptyCell = (row: number, column: number): PlacedCell => ({
  text: '',
  row_span: 1,
  col_span: 1,
  start_row_offset_idx: row,
  end_row_offset_idx: row + 1,
  start_col_offset_idx: column,
  end_col_offset_idx: column + 1,
  column_header: false,
  row_header: false,
  row_section: false,
});
