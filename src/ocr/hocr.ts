/** Parses hOCR, the HTML in which Tesseract reports text and positions, into a page of lines and words. */

import { NO_RULES, type Rules } from './image/ruling-lines.ts';

/** In pixels of the recognized image. */
export interface OcrBox {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

export interface OcrWord {
  readonly text: string;
  readonly box: OcrBox;
  /** 0 to 1. */
  readonly confidence: number;
  /** What the other recognizer read, if this is a number that both read differently. */
  readonly other?: string | undefined;
}

export interface OcrLine {
  readonly box: OcrBox;
  /** Height from the descender of a `g` to the ascender of an `h`, in pixels. */
  readonly size: number;
  /** In reading order, at least one. */
  readonly words: readonly OcrWord[];
}

export interface OcrPage {
  readonly width: number;
  readonly height: number;
  /** In the order in which the engine found them. */
  readonly lines: readonly OcrLine[];
  /** Ruling lines, in pixels of the same image. */
  readonly rules: Rules;
}

/** Maximum number of words; no legible page has more. */
const MAX_WORDS = 50_000;

const ELEMENT =
  /<(?:div|p|span) class='(ocr_page|ocr_line|ocr_header|ocr_caption|ocr_textfloat|ocrx_word)'[^>]*? title=(?:'([^']*)'|"([^"]*)")[^>]*>/g;

/** Tesseract writes one element per line, with the text of a word right after its start tag. */
export function parseHocr(hocr: string, rules: Rules = NO_RULES): OcrPage {
  const lines: { box: OcrBox; size: number; words: OcrWord[] }[] = [];
  let page: OcrBox = { left: 0, top: 0, right: 0, bottom: 0 };
  let words = 0;
  for (const match of hocr.matchAll(ELEMENT)) {
    const [tag, kind, single, double] = match;
    const title = single ?? double ?? '';
    const box = boxOf(title);
    if (!box) continue;
    if (kind === 'ocr_page') page = box;
    else if (kind !== 'ocrx_word')
      lines.push({ box, size: numberOf(title, 'x_size') ?? box.bottom - box.top, words: [] });
    else if (words < MAX_WORDS) {
      const start = match.index + tag.length;
      const end = hocr.indexOf('</span>', start);
      const text = plain(hocr.slice(start, end < 0 ? start : end));
      if (text === '') continue;
      words++;
      lines.at(-1)?.words.push({ text, box, confidence: (numberOf(title, 'x_wconf') ?? 0) / 100 });
    }
  }
  return { width: page.right, height: page.bottom, lines: lines.filter((line) => line.words.length > 0), rules };
}

function boxOf(title: string): OcrBox | undefined {
  const found = /\bbbox (-?\d+) (-?\d+) (-?\d+) (-?\d+)/.exec(title);
  if (!found) return undefined;
  const [left, top, right, bottom] = found.slice(1).map(Number) as [number, number, number, number];
  return { left, top, right, bottom };
}

function numberOf(title: string, name: string): number | undefined {
  const found = new RegExp(`\\b${name} (-?[\\d.]+)`).exec(title)?.[1];
  return found === undefined ? undefined : Number(found);
}

const REFERENCES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

const plain = (html: string): string =>
  html
    .replace(/<[^<>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => REFERENCES[name]!)
    .trim();
