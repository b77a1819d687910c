/** Rewrites the images of Markdown that the reader wrote. */

/**
 * An image as the reader writes it, with its number, its alt text, its URL and an optional title. The length is limited,
 * so that text that only begins like an image takes no time.
 */
const IMAGE = /!\[(Image \d+(?:: (?:\\.|[^\]\\]){0,2000})?)\]\(([^)\s]+)(?:\s"[^"]*")?\)/g;
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
