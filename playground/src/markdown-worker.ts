/** Converts Markdown to HTML in a worker, because converting untrusted Markdown may take very long. */
import { micromark } from 'micromark';
import { gfm, gfmHtml } from 'micromark-extension-gfm';

addEventListener('message', ({ data }: MessageEvent<string>) => {
  postMessage(micromark(data, { extensions: [gfm()], htmlExtensions: [gfmHtml()], allowDangerousHtml: true }));
});
