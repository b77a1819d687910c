/** Frames: of the same site, of another, within each other, without an address. */
import { type Pages, sendHtml } from '../site.ts';

export const frames: Pages = {
  '/frames': ({ response, otherOrigin }) =>
    sendHtml(
      response,
      `<!doctype html><title>Frames</title><p>Outside before.</p><iframe src="/frames/inner?a=1"></iframe><p>Outside between.</p>
<iframe src="${otherOrigin}/frames/other"></iframe><iframe srcdoc="&lt;p&gt;From srcdoc&lt;/p&gt;"></iframe><p>Outside after.</p>`,
    ),
  '/frames/inner': `<!doctype html><title>Inner</title><style>p{color:blue}</style><script>var x = 1</script><p>Inside the same site, <a href="deeper">a link</a>.</p>`,
  '/frames/other': ({ response, otherOrigin }) =>
    sendHtml(
      response,
      `<!doctype html><title>Other</title><p>Inside another site.</p><iframe src="/frames/leaf"></iframe><iframe src="${otherOrigin}/frames/inner?nested"></iframe>`,
    ),
  '/frames/leaf': '<!doctype html><title>Leaf</title><p>A leaf of another site.</p>',
};
