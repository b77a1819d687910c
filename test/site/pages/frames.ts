/** Frames of the same site and of another site, nested frames, and frames without a URL. */
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
  '/frameset': ({ response, otherOrigin }) =>
    sendHtml(
      response,
      `<html><head><title>A set of frames</title></head><frameset cols="20%,80%"><frame src="/frames/nav" name="nav">
<frameset rows="50%,50%"><frame src="/frames/main" title="What it is about"><frame src="${otherOrigin}/frames/leaf"></frameset>
<noframes><body><p>This browser shows no frames. <a href="/frames/main">Go to the text</a></p></body></noframes></frameset></html>`,
    ),
  '/frameset/broken': `<html><head><title>A broken set</title></head><frameset cols="20%,80%"><frame src="/frames/main"><frame src="/frames/closed"></frameset></html>`,
  '/frames/closed': ({ response }) => void response.socket?.destroy(),
  '/frames/nav':
    '<!doctype html><title>Nav</title><ul><li><a href="/frames/main">Main</a><li><a href="/frames/leaf">Leaf</a></ul>',
  '/frames/main': `<!doctype html><title>Main</title><h1>In the main frame</h1>${'<p>The main frame tells of the harbour at some length, and of its boats.</p>'.repeat(8)}`,
  '/frames/leaf': '<!doctype html><title>Leaf</title><p>A leaf of another site.</p>',
};
