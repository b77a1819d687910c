/** The forms in which Tika's clients ask for the content of a file. */
import { elementsText } from '../documents/text.ts';
import { escapeXml, pagesXhtml } from '../documents/xhtml.ts';
import type { Metadata } from './metadata.ts';
import type { TikaFile } from './read-file.ts';

export const FORMS = ['text', 'html', 'xml', 'body', 'md', 'main', 'ignore'] as const;
export type Form = (typeof FORMS)[number];

export const MEDIA_TYPES: Readonly<Record<Form, string>> = {
  text: 'text/plain; charset=utf-8',
  html: 'text/html; charset=utf-8',
  xml: 'text/xml; charset=utf-8',
  body: 'text/plain; charset=utf-8',
  md: 'text/markdown; charset=utf-8',
  main: 'text/plain; charset=utf-8',
  ignore: 'text/plain; charset=utf-8',
};

export function contentIn(form: Form, { page, rendition }: TikaFile, metadata: Metadata): string {
  const elements = rendition.elements ?? [];
  switch (form) {
    case 'text':
    case 'body':
    case 'main':
      return elementsText(elements);
    case 'md':
      return page.content ?? '';
    case 'html':
    case 'xml':
      return xhtmlDocument(pagesXhtml(elements), metadata);
    case 'ignore':
      return '';
  }
}

function xhtmlDocument(body: string, metadata: Metadata): string {
  const title = String(metadata['dc:title'] ?? '');
  const metas = Object.entries(metadata).flatMap(([name, values]) =>
    [values].flat().map((value) => `<meta name="${escapeXml(name)}" content="${escapeXml(value)}"/>`),
  );
  return `<html xmlns="http://www.w3.org/1999/xhtml">
<head>
${metas.join('\n')}
<title>${escapeXml(title)}</title>
</head>
<body>${body}</body></html>`;
}

/** The range of an Accept header with the highest weight among `types`; the first of equals; `undefined` if none. */
export function preferred(accept: string | undefined, types: readonly string[]): string | undefined {
  let best: { type: string; weight: number } | undefined;
  for (const part of (accept ?? '').split(',')) {
    const [type = '', ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    const quality = parameters.find((text) => text.startsWith('q='))?.slice(2);
    const weight = quality === undefined ? 1 : Number(quality) || 0;
    if (types.includes(type) && weight > (best?.weight ?? 0)) best = { type, weight };
  }
  return best?.type;
}
