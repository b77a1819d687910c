/** A stranger's document in a frame that runs nothing, loads nothing and leads nowhere. */
import { useMemo } from 'preact/hooks';
import { inertNodes } from './inert.ts';

/** The address of the frame's style sheet, put in by the build. */
declare const FRAME_STYLE: string;

const MOST_CHARACTERS = 1_000_000;
/** Not for safety, which is the frame's and its policy's: so that nothing has to be refused. */
const QUIETED =
  'script, style, link, meta, base, iframe, frame, object, embed, video, audio, source, track, template, noscript, title';

export function ForeignDocument({ html }: { html: string }) {
  const document = useMemo(() => quiet(html.slice(0, MOST_CHARACTERS)), [html]);
  return (
    <figure class="foreign">
      <iframe title="The document, without its scripts, styles and pictures" sandbox="" srcdoc={document} />
      <figcaption>Without its scripts, styles and pictures. “Raw” has all of it.</figcaption>
    </figure>
  );
}

function quiet(html: string): string {
  const parsed = inertNodes(html);
  for (const element of parsed.querySelectorAll(QUIETED)) element.remove();
  for (const element of parsed.querySelectorAll('*')) {
    for (const { name, value } of [...element.attributes]) {
      const isPicture = name === 'src' && element.localName === 'img' && /^data:image\//i.test(value);
      if (!isPicture && !QUIET_ATTRIBUTES.has(name)) element.removeAttribute(name);
    }
  }
  const body = document.createElement('template');
  body.content.append(parsed);
  const policy = `default-src 'none'; img-src data:; style-src ${location.origin}`;
  return `<!doctype html><html><head><meta charset="utf-8"><meta http-equiv="Content-Security-Policy" content="${policy}"><link rel="stylesheet" href="${location.origin}${FRAME_STYLE}"></head><body>${body.innerHTML}</body></html>`;
}

const QUIET_ATTRIBUTES = new Set([
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
