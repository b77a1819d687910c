/** Cuts a part out of a prepared image. Runs in a child process (`ocr/worker.ts`). */
import type { OcrBox } from '../hocr.ts';

/** Returns a PNG of at least one pixel. The box may reach beyond the image. */
export async function crop(picture: Uint8Array, box: OcrBox): Promise<Uint8Array> {
  const { default: sharp } = await import('sharp');
  sharp.concurrency(1);
  sharp.cache(false);
  const { width, height } = await sharp(picture).metadata();
  const left = Math.max(0, Math.min(width - 1, Math.floor(box.left)));
  const top = Math.max(0, Math.min(height - 1, Math.floor(box.top)));
  const area = {
    left,
    top,
    width: Math.max(1, Math.min(width, Math.ceil(box.right)) - left),
    height: Math.max(1, Math.min(height, Math.ceil(box.bottom)) - top),
  };
  return sharp(picture).extract(area).png({ compressionLevel: 1 }).toBuffer();
}
