/** Converts Markdown to HTML in a worker with a timeout, because some texts take time quadratic in their length. */

/** URL of the worker script; set by the build. */
declare const MARKDOWN_WORKER: string;

const TIMEOUT_MS = 4_000;
/** Limit on the size of the HTML, because a short text can expand into a table with thousands of cells per row. */
const MAX_HTML_CHARACTERS = 2_000_000;

let worker: Worker | undefined;
let before: Promise<unknown> = Promise.resolve();

/**
 * Returns the HTML, or `undefined` if it is too large or the conversion takes too long. Converts one text at a time.
 */
export function markdownToHtml(text: string): Promise<string | undefined> {
  const written = before.then(() => convertNow(text));
  before = written;
  return written;
}

function convertNow(text: string): Promise<string | undefined> {
  worker ??= new Worker(MARKDOWN_WORKER, { type: 'module' });
  const mine = worker;
  return new Promise((resolve) => {
    const end = (html: string | undefined) => {
      clearTimeout(timer);
      if (html === undefined) {
        mine.terminate();
        worker = undefined;
      }
      resolve(html === undefined || html.length > MAX_HTML_CHARACTERS ? undefined : html);
    };
    const timer = setTimeout(() => end(undefined), TIMEOUT_MS);
    mine.onmessage = ({ data }: MessageEvent<string>) => end(data);
    mine.onerror = (event) => {
      event.preventDefault();
      end(undefined);
    };
    mine.postMessage(text);
  });
}
