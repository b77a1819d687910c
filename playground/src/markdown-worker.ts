/** Writes Markdown as HTML, beside the page: what a stranger wrote may take longer than anybody waits. */
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(micromark(data, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true }));
});
