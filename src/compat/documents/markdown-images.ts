/** Rewrites the images of Markdown that the reader wrote. */

/** An image with its alt text, its URL and an optional title. */
const IMAGE = /!\[((?:\\.|[^\]\\])*)\]\(([^)\s]+)(?:\s"[^"]*")?\)/g;
const FENCE = /^\s*(?:```|~~~)/;

/** `write` returns the text of an image. Images in code are not changed. */
export function replaceImages(markdown: string, write: (image: { url: string; alt: string }) => string): string {
  let inCode = false;
  return markdown
    .split('\n')
    .map((line) => {
      if (FENCE.test(line)) inCode = !inCode;
      return inCode ? line : line.replace(IMAGE, (_, alt: string, url: string) => write({ url, alt }));
    })
    .join('\n');
}
