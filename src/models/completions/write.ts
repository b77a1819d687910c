/** Writes recognized pages in each output form. The response is the concatenation of the pieces of all pages. */

import { escapeAttribute, escapeText } from '#html/serialize.ts';
import {
  blocksToHtml,
  blocksToMarkdown,
  blocksToText,
  boundsOf,
  type OcrBlock,
  type OcrBox,
  type OcrResult,
  type OcrWord,
} from '#ocr/index.ts';
import type { Form } from './fields.ts';

export interface ReadPage {
  /** Page number, counted from 1 over all images of the request. */
  readonly number: number;
  readonly result: OcrResult;
}

interface Writer {
  readonly before: string;
  readonly between: string;
  readonly after: string;
  page(read: ReadPage): string;
}

/**
 * Pages are separated by a rule in Markdown and by a form feed in text (docs/reference/wire/models.md, Chat
 * completions).
 */
export const WRITERS: Readonly<Record<Form, Writer>> = {
  markdown: plain('\n\n---\n\n', ({ blocks }) => blocksToMarkdown(blocks)),
  text: plain('\f', ({ blocks }) => blocksToText(blocks)),
  html: plain('\n<hr>\n', ({ blocks }) => blocksToHtml(blocks)),
  json: { before: '{"pages":[', between: ',', after: ']}', page: (read) => JSON.stringify(pageJson(read)) },
  hocr: {
    before:
      '<!DOCTYPE html>\n<html xmlns="http://www.w3.org/1999/xhtml"><head><meta charset="utf-8"/><title></title>' +
      '<meta name="ocr-system" content="lectern"/>' +
      '<meta name="ocr-capabilities" content="ocr_page ocr_carea ocr_par ocr_line ocrx_word"/></head><body>\n',
    between: '\n',
    after: '\n</body></html>\n',
    page: pageHocr,
  },
};

function plain(between: string, page: (result: OcrResult) => string): Writer {
  return { before: '', between, after: '', page: ({ result }) => page(result) };
}

const confidenceOf = (words: readonly OcrWord[]): number =>
  Math.round((words.reduce((sum, { confidence }) => sum + confidence, 0) / Math.max(1, words.length)) * 1_000) / 1_000;

/** Left, top, right, bottom in pixels of the original image. */
type Corners = readonly [number, number, number, number];

const corners = ({ left, top, right, bottom }: OcrBox): Corners => [left, top, right, bottom];
const boxOf = (words: readonly OcrWord[]): Corners => corners(boundsOf(words.map(({ box }) => box)));

function pageJson({ number, result }: ReadPage) {
  const { width, height, turned } = result.picture;
  return {
    page: number,
    width,
    height,
    turned,
    confidence: Math.round(result.confidence * 1_000) / 1_000,
    blocks: result.blocks.filter(({ lines }) => lines.length > 0).map(blockJson),
  };
}

function blockJson(block: OcrBlock) {
  const { kind, lines } = block;
  const words = lines.flat();
  return {
    type: kind,
    ...contentOf(block),
    box: boxOf(words),
    confidence: confidenceOf(words),
    lines: lines.map((line) => ({
      text: line.map(({ text }) => text).join(' '),
      box: boxOf(line),
      confidence: confidenceOf(line),
      words: line.map((word) => ({
        text: word.text,
        box: corners(word.box),
        confidence: confidenceOf([word]),
        ...(word.other !== undefined && { other: word.other }),
      })),
    })),
  };
}

function contentOf(block: OcrBlock) {
  switch (block.kind) {
    case 'heading':
      return { level: block.level, text: block.text };
    case 'paragraph':
      return { text: block.text };
    case 'list':
      return { items: block.items };
    case 'table':
      return { header: block.header, rows: block.rows };
  }
}

/** hOCR 1.2: boxes and confidences are in `title` attributes, words in reading order. */
function pageHocr({ number, result }: ReadPage): string {
  const { width, height } = result.picture;
  const out = [`<div class="ocr_page" id="page_${number}" title="bbox 0 0 ${width} ${height}; ppageno ${number - 1}">`];
  for (const [at, { lines }] of result.blocks.entries()) {
    if (lines.length === 0) continue;
    const area = `title="bbox ${boxOf(lines.flat()).join(' ')}"`;
    out.push(`<div class="ocr_carea" id="block_${number}_${at + 1}" ${area}><p class="ocr_par" ${area}>`);
    for (const line of lines) {
      const words = line.map((word) => {
        const title = `bbox ${corners(word.box).join(' ')}; x_wconf ${Math.round(word.confidence * 100)}`;
        return `<span class="ocrx_word" title="${escapeAttribute(title)}">${escapeText(word.text)}</span>`;
      });
      out.push(`<span class="ocr_line" title="bbox ${boxOf(line).join(' ')}">${words.join(' ')}</span>`);
    }
    out.push('</p></div>');
  }
  return [...out, '</div>'].join('\n');
}
