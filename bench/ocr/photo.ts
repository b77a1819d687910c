/** Makes a drawn page look like a photo: perspective, uneven light, noise, blur and JPEG. */
import sharp from 'sharp';

/** `random` returns numbers from 0 to 1. */
export async function photographed(picture: Uint8Array, random: () => number): Promise<Uint8Array> {
  const { data, info } = await sharp(picture).greyscale().raw().toBuffer({ resolveWithObject: true });
  const { width, height } = info;
  const [outWidth, outHeight] = [width + 80, height + 80];
  const [lean, tilt] = [0.05 + 0.05 * random(), (random() - 0.5) * 0.06];
  const pixels = Buffer.alloc(outWidth * outHeight);
  const light = random() * Math.PI;
  for (let y = 0; y < outHeight; y++) {
    for (let x = 0; x < outWidth; x++) {
      const [u, v] = [x / outWidth - 0.5, y / outHeight - 0.5];
      // The far side of the page is narrower, so its points are spread further apart.
      const depth = 1 + lean * (v + 0.5) + tilt * u;
      const sourceX = (u * depth * 1.06 + tilt * v + 0.5) * width;
      const sourceY = (v * depth * 1.06 + 0.6 * tilt * u + 0.5) * height;
      const shade = 0.6 + 0.34 * (Math.cos(light) * u + Math.sin(light) * v + 0.5);
      const noise = (random() + random() + random() - 1.5) * 24;
      const level = sampled(data, { width, height }, sourceX, sourceY) * shade + noise + 12;
      pixels[y * outWidth + x] = Math.max(0, Math.min(255, Math.round(level)));
    }
  }
  return sharp(pixels, { raw: { width: outWidth, height: outHeight, channels: 1 } })
    .blur(0.9)
    .jpeg({ quality: 60 })
    .toBuffer();
}

/** The desk around the page is gray. */
const DESK = 150;

function sampled(pixels: Buffer, { width, height }: { width: number; height: number }, x: number, y: number): number {
  const [left, top] = [Math.floor(x), Math.floor(y)];
  if (left < 0 || top < 0 || left >= width - 1 || top >= height - 1) return DESK;
  const [partX, partY] = [x - left, y - top];
  const at = top * width + left;
  const above = pixels[at]! * (1 - partX) + pixels[at + 1]! * partX;
  const below = pixels[at + width]! * (1 - partX) + pixels[at + width + 1]! * partX;
  return above * (1 - partY) + below * partY;
}
