/** Markdown to HTML in a worker that is ended when it takes too long: some texts take the square of their length. */

/** The address of the worker, put in by the build. */
declare const MARKDOWN_WORKER: string;

const MOST_MS = 4_000;
/** A short text can be a table of thousands of columns in each of its rows. */
const MOST_HTML_CHARACTERS = 2_000_000;

let worker: Worker | undefined;
let before: Promise<unknown> = Promise.resolve();

/** The HTML of a text; undefined when it is more than a page can take. Texts are written one after the other. */
export function writeMarkdown(text: string): Promise<string | undefined> {
  const written = before.then(() => writeNow(text));
  before = written;
  return written;
}

function writeNow(text: string): Promise<string | undefined> {
  worker ??= new Worker(MARKDOWN_WORKER, { type: 'module' });
  const mine = worker;
  return new Promise((resolve) => {
    const end = (html: string | undefined) => {
      clearTimeout(timer);
      if (html === undefined) {
        mine.terminate();
        worker = undefined;
      }
      resolve(html === undefined || html.length > MOST_HTML_CHARACTERS ? undefined : html);
    };
    const timer = setTimeout(() => end(undefined), MOST_MS);
    mine.onmessage = ({ data }: MessageEvent<string>) => end(data);
    mine.onerror = (event) => {
      event.preventDefault();
      end(undefined);
    };
    mine.postMessage(text);
  });
}
