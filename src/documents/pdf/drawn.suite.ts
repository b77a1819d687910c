/** Test helpers: PDF files built from drawing operators. */
import { Buffer } from 'node:buffer';

export interface DrawnPage {
  readonly content: string;
  /** Entries of the page dictionary: `/Rotate 90`. */
  readonly extra?: string;
}

export interface DrawnFile {
  readonly pages: readonly DrawnPage[];
  /** Objects from number 10 on: fonts, images. F1 (Helvetica), F2 (bold) and F3 (Courier) always exist. */
  readonly objects?: readonly string[];
  /** Entries of the page resources: `/XObject << /I 10 0 R >>`. */
  readonly resources?: string;
  readonly fonts?: string;
  readonly info?: string;
  readonly catalog?: string;
}

export function drawPdf({ pages, objects = [], resources = '', fonts = '', info = '', catalog = '' }: DrawnFile) {
  const all: string[] = [];
  const firstPage = 10 + objects.length;
  const kids = pages.map((_, at) => `${firstPage + 2 * at} 0 R`).join(' ');
  const font = (name: string) => `<< /Type /Font /Subtype /Type1 /BaseFont /${name} /Encoding /WinAnsiEncoding >>`;
  all[1] = `<< /Type /Catalog /Pages 2 0 R ${catalog} >>`;
  all[2] = `<< /Type /Pages /Kids [${kids}] /Count ${pages.length} /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R /F2 4 0 R /F3 5 0 R ${fonts} >> ${resources} >> >>`;
  all[3] = font('Helvetica');
  all[4] = font('Helvetica-Bold');
  all[5] = font('Courier');
  all[6] = `<< ${info} >>`;
  objects.forEach((object, at) => {
    all[10 + at] = object;
  });
  pages.forEach(({ content, extra = '' }, at) => {
    const number = firstPage + 2 * at;
    all[number] = `<< /Type /Page /Parent 2 0 R /Contents ${number + 1} 0 R ${extra} >>`;
    all[number + 1] = `<< /Length ${Buffer.byteLength(content, 'latin1')} >>\nstream\n${content}\nendstream`;
  });
  let out = '%PDF-1.7\n';
  const offsets: number[] = [];
  all.forEach((object, number) => {
    offsets[number] = out.length;
    out += `${number} 0 obj\n${object}\nendobj\n`;
  });
  const start = out.length;
  out += `xref\n0 ${all.length}\n0000000000 65535 f \n`;
  for (let number = 1; number < all.length; number++) {
    const offset = offsets[number];
    out += offset === undefined ? '0000000000 65535 f \n' : `${String(offset).padStart(10, '0')} 00000 n \n`;
  }
  out += `trailer\n<< /Size ${all.length} /Root 1 0 R /Info 6 0 R >>\nstartxref\n${start}\n%%EOF\n`;
  return new Uint8Array(Buffer.from(out, 'latin1'));
}

/** Lines of text from a point downwards, with a line pitch of 14 points. */
export const write = (x: number, y: number, lines: readonly string[], { font = 'F1', size = 11 } = {}): string =>
  `BT /${font} ${size} Tf 14 TL ${x} ${y} Td ${lines.map((line) => `(${line.replace(/[()\\]/g, '\\$&')}) Tj T*`).join(' ')} ET\n`;

export const page = (content: string, extra = ''): DrawnFile => ({ pages: [{ content, extra }] });
