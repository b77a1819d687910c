/** Shows an untrusted document in a sandboxed frame that runs no scripts, loads nothing and does not navigate. */
import { useMemo } from 'preact/hooks';
import { inertNodes } from './inert.ts';

/** URL of the frame's style sheet; set by the build. */
declare const FRAME_STYLE: string;

const MAX_CHARACTERS = 1_000_000;
/** Removed only to avoid blocked requests. The frame's sandbox and policy provide the security. */
const REMOVED_ELEMENTS =
  'script, style, link, meta, base, iframe, frame, object, embed, video, audio, source, track, template, noscript, title';

export function UntrustedDocument({ html }: { html: string }) {
  const document = useMemo(() => sanitize(html.slice(0, MAX_CHARACTERS)), [html]);
  return (
    <figure class="untrusted">
      <iframe title="Document without scripts, styles and images" sandbox="" srcdoc={document} />
      <figcaption>Shown without scripts, styles and images. “Raw” shows the complete source.</figcaption>
    </figure>
  );
}

function sanitize(html: string): string {
  const parsed = inertNodes(html);
  for (const element of parsed.querySelectorAll(REMOVED_ELEMENTS)) element.remove();
  for (const element of parsed.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const isPicture = name === 'src' && element.localName === 'img' && /^data:image\//i.test(value);
      if (!isPicture && !ALLOWED_ATTRIBUTES.has(name)) element.removeAttribute(name);
    }
  }
  const body = document.createElement('template');
  body.content.append(parsed);
  const policy = `default-src 'none'; img-src data:; style-src ${location.origin}`;
  return `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><link rel="stylesheet" href="${location.origin}${FRAME_STYLE}"></head><body>${body.innerHTML}</body></html>`;
}

const ALLOWED_ATTRIBUTES = new Set([
  'alt',
  'title',
  'lang',
  'dir',
  'colspan',
  'rowspan',
  'start',
  'value',
  'open',
  'type',
]);
