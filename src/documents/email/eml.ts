/** Email messages as sent (RFC 5322): EML. */
import { decodeHtml, decodeText } from '#html/decode.ts';
import type { DocumentKind } from '../document.ts';
import { isoDate } from '../text/date.ts';
import type { Attachment, Message, MessageBody } from './message.ts';
import { type MimePart, parseMime } from './mime.ts';
import { readMessageFile } from './read-message.ts';

export const kind: DocumentKind = {
  async parse(file, bytes, options) {
    return readMessageFile(emlMessage(bytes), file, options);
  },
};

const SHOWN = ['From', 'To', 'Cc', 'Date'] as const;

/** Throws DocumentError. */
export function emlMessage(bytes: Uint8Array): Message {
  const { root, complete } = parseMime(bytes);
  const { header } = root;
  const { bodies, attachments } = sortParts(root);
  const date = isoDate(header.text('date'));
  const valueOfField = (name: string) => (name === 'Date' ? date : header.text(name.toLowerCase()));
  return {
    subject: header.text('subject'),
    fields: SHOWN.map((name) => [name, valueOfField(name)] as const).filter(([, value]) => value !== ''),
    sentTime: /^\d{4}-\d\d-\d\dT/.test(date) ? date : undefined,
    body: joined(bodies.map(bodyOf)),
    attachments,
    notes: complete ? [] : ['The message has too many parts; some were left out'],
  };
}

interface SortedParts {
  readonly bodies: readonly MimePart[];
  readonly attachments: readonly Attachment[];
}

/** Text without a name is the body. Of alternatives, the last readable one is shown (RFC 2046, 5.1.4). */
function sortParts(root: MimePart): SortedParts {
  const bodies: MimePart[] = [];
  const others: MimePart[] = [];
  const waiting: MimePart[] = [root];
  for (let part = waiting.pop(); part; part = waiting.pop()) {
    if (part.children.length > 0) {
      const shown = part.mediaType === 'multipart/alternative' ? [bestOf(part.children)] : part.children;
      for (const child of shown.toReversed()) waiting.push(child);
    } else if (isBody(part)) bodies.push(part);
    else others.push(part);
  }
  const html = bodies
    .filter(({ mediaType }) => mediaType === 'text/html')
    .map((part) => bodyOf(part).text)
    .join('\n');
  return { bodies, attachments: others.filter((part) => !isInline(part, html)).flatMap(attachmentOf) };
}

const isReadable = ({ mediaType, children }: MimePart): boolean =>
  children.length > 0 || mediaType === 'text/html' || mediaType === 'text/plain';

const bestOf = (alternatives: readonly MimePart[]): MimePart =>
  alternatives.findLast(isReadable) ?? alternatives.at(-1)!;

const isBody = (part: MimePart): boolean =>
  /^text\/(?:plain|html)$/.test(part.mediaType) &&
  part.header.structured('content-disposition').value !== 'attachment' &&
  nameOf(part) === '';

/** Images that the HTML shows, and images without a name. */
function isInline(part: MimePart, html: string): boolean {
  if (!part.mediaType.startsWith('image/')) return false;
  const id = part.header.text('content-id').replace(/^<|>$/g, '');
  const isNamed = nameOf(part) !== '';
  const isAttached = part.header.structured('content-disposition').value === 'attachment';
  return (id !== '' && html.includes(`cid:${id}`)) || (!isNamed && !isAttached);
}

const nameOf = ({ header }: MimePart): string =>
  header.structured('content-disposition').parameter('filename') || header.structured('content-type').parameter('name');

function attachmentOf(part: MimePart): Attachment[] {
  // An empty multipart entity has nothing to read.
  if (part.mediaType.startsWith('multipart/')) return [];
  const contentType = part.header.text('content-type') || part.mediaType;
  if (part.mediaType !== 'message/rfc822') return [{ name: nameOf(part), contentType, bytes: () => part.content() }];
  return [{ name: nameOf(part), contentType, message: () => emlMessage(part.content()) }];
}

interface TextBody {
  readonly kind: 'html' | 'text';
  readonly text: string;
}

function bodyOf(part: MimePart): TextBody {
  const contentType = part.header.text('content-type');
  const content = part.content();
  if (part.mediaType === 'text/html') return { kind: 'html', text: decodeHtml(content, contentType).text };
  const { text } = decodeText(content, contentType);
  const isFlowed = /^flowed$/i.test(part.header.structured('content-type').parameter('format'));
  return { kind: 'text', text: isFlowed ? unflowed(text) : text };
}

/** A line that ends with a space continues on the next one (RFC 3676). The line `-- ` begins a signature. */
const unflowed = (text: string): string => text.replace(/^(?!-- \r?\n)(.*) \r?\n(?![> \r\n]|-- \r?\n)/gm, '$1 ');

function joined(bodies: readonly TextBody[]): MessageBody {
  if (bodies.length === 1) return bodies[0]!;
  if (bodies.every(({ kind }) => kind === 'text')) {
    return { kind: 'text', text: bodies.map(({ text }) => text).join('\n\n') };
  }
  const asHtml = ({ kind, text }: TextBody) =>
    kind === 'html' ? text : `<pre>${text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`;
  return { kind: 'html', text: bodies.map(asHtml).join('\n') };
}
