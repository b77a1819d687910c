/**
 * Camera metadata of an image (Exif 2.32, in TIFF 6.0 structure): only the text fields listed below. GPS data is in a
 * separate directory, which is never read.
 */

const IMAGE_TAGS: Readonly<Record<number, string>> = {
  270: 'ImageDescription',
  271: 'Make',
  272: 'Model',
  305: 'Software',
  306: 'DateTime',
  315: 'Artist',
  33432: 'Copyright',
};
const EXIF_TAGS: Readonly<Record<number, string>> = {
  36867: 'DateTimeOriginal',
  36881: 'OffsetTimeOriginal',
};
const EXIF_DIRECTORY = 0x8769;
const ASCII = 2;
const MAX_ENTRIES = 500;
const MAX_TEXT = 2_000;

/** Text fields by their standard names; malformed ones are left out. */
export function readExif(block: Uint8Array): Record<string, string> {
  const bytes = Buffer.from(block.buffer, block.byteOffset, block.byteLength);
  const base = bytes.toString('latin1', 0, 6) === 'Exif\0\0' ? 6 : 0;
  const order = bytes.toString('latin1', base, base + 2);
  const texts: Record<string, string> = {};
  if (order !== 'II' && order !== 'MM') return texts;
  const view = new DataView(bytes.buffer, bytes.byteOffset + base, Math.max(0, bytes.length - base));
  const little = order === 'II';
  const image = readDirectory(view, little, 4, IMAGE_TAGS, texts);
  if (image !== undefined) readDirectory(view, little, image, EXIF_TAGS, texts);
  return texts;
}

/**
 * `pointerAt` is the offset of the pointer to the directory. Returns the offset of the pointer to the Exif directory.
 */
function readDirectory(
  view: DataView,
  little: boolean,
  pointerAt: number,
  tags: Readonly<Record<number, string>>,
  texts: Record<string, string>,
): number | undefined {
  if (pointerAt + 4 > view.byteLength) return undefined;
  const start = view.getUint32(pointerAt, little);
  if (start + 2 > view.byteLength) return undefined;
  const count = Math.min(view.getUint16(start, little), MAX_ENTRIES);
  let exif: number | undefined;
  for (let at = start + 2; at + 12 <= view.byteLength && at < start + 2 + count * 12; at += 12) {
    const tag = view.getUint16(at, little);
    if (tag === EXIF_DIRECTORY) exif = at + 8;
    const name = tags[tag];
    if (name === undefined || view.getUint16(at + 2, little) !== ASCII) continue;
    const length = view.getUint32(at + 4, little);
    const from = length <= 4 ? at + 8 : view.getUint32(at + 8, little);
    if (from + length > view.byteLength) continue;
    const raw = Buffer.from(view.buffer, view.byteOffset + from, Math.min(length, MAX_TEXT));
    const text = raw
      .toString('utf8')
      .split('\0', 1)[0]!
      .replace(/[\0-\x1f]+/g, ' ')
      .trim();
    if (text !== '') texts[name] = text;
  }
  return exif;
}

/** Converts `2024:05:06 07:08:09` and `+02:00` to ISO 8601; `undefined` if the time is malformed. */
export function exifDate(time: string | undefined, offset: string | undefined): string | undefined {
  const found = /^(\d{4}):(\d\d):(\d\d) (\d\d:\d\d:\d\d)/.exec(time ?? '');
  if (!found) return undefined;
  const [, year, month, day, clock] = found;
  const text = `${year}-${month}-${day}T${clock}${/^[+-]\d\d:\d\d$/.test(offset ?? '') ? offset : ''}`;
  return Number.isNaN(Date.parse(text)) ? undefined : text;
}
