/**
 * Turns a message into pages: the message itself, then each attachment that can be read. Attached messages are read in
 * the same way, within limits on depth, count and size.
 */
import { decodeText } from '#html/decode.ts';
import { escapeText } from '#html/serialize.ts';
import { typeOfContainer } from '../container.ts';
import { canonicalType, TYPES, typeOfBytes, typeOfFileName } from '../detect.ts';
import {
  DocumentError,
  type DocumentFile,
  type DocumentPage,
  type ParsedDocument,
  type ParseOptions,
} from '../document.ts';
import { kindOf } from '../kinds.ts';
import { selectPages } from '../office/result.ts';
import { cleanBody, plainBody } from './body-html.ts';
import type { Attachment, Message } from './message.ts';

/** Limits for one file, including its attached messages. */
const MAX_DEPTH = 5;
const MAX_ATTACHMENTS = 100;
const MAX_ATTACHED_BYTES = 256 * 1024 * 1024;
const MAX_HTML_BYTES = 64 * 1024 * 1024;

export async function readMessageFile(
  message: Message,
  { password }: DocumentFile,
  options: ParseOptions,
): Promise<ParsedDocument> {
  const reader = new MessageReader(password, options);
  await reader.read(message);
  const { notes } = reader;
  return {
    title: message.subject,
    ...selectPages(reader.pages, options),
    metadata: Object.fromEntries(message.fields.map(([name, value]) => [name.toLowerCase(), value])),
    publishedTime: message.sentTime,
    notes: reader.unread.length > 0 ? [...notes, unreadNote(reader.unread)] : notes,
    hiddenCount: reader.hiddenCount,
  };
}

const MAX_LISTED = 20;

function unreadNote(unread: readonly string[]): string {
  const more = unread.length > MAX_LISTED ? ` and ${unread.length - MAX_LISTED} more` : '';
  return `Attachments that were not read: ${unread.slice(0, MAX_LISTED).join('; ')}${more}`;
}

interface Waiting {
  readonly attachment: Attachment;
  readonly name: string;
  readonly depth: number;
}

class MessageReader {
  readonly pages: DocumentPage[] = [];
  readonly notes: string[] = [];
  /** Attachments without text, each with the reason. */
  readonly unread: string[] = [];
  hiddenCount = 0;
  readonly #password: string | undefined;
  readonly #options: ParseOptions;
  readonly #until: number;
  #leftBytes = MAX_ATTACHED_BYTES;
  #leftHtml = MAX_HTML_BYTES;

  constructor(password: string | undefined, options: ParseOptions) {
    this.#password = password;
    this.#options = options;
    this.#until = performance.now() + (options.timeMs ?? Number.POSITIVE_INFINITY);
  }

  async read(message: Message): Promise<void> {
    this.#add(await this.#messageHtml(message));
    const waiting = waitingIn(message, '', 1);
    for (let at = 0; at < waiting.length; at++) {
      const { attachment, name, depth } = waiting[at]!;
      const reason = this.#refusal(at);
      if (reason) this.unread.push(`${name} (${reason})`);
      else {
        const inner = await this.#attachment(attachment, name, depth);
        // The attachments of a message follow the message.
        if (inner) waiting.splice(at + 1, 0, ...waitingIn(inner, `${name} / `, depth + 1));
      }
    }
  }

  #refusal(read: number): string | undefined {
    if (read >= MAX_ATTACHMENTS) return 'too many attachments';
    if (this.#leftBytes < 0 || this.#leftHtml < 0) return 'the attachments are too large in total';
    return performance.now() > this.#until ? 'no time was left' : undefined;
  }

  #add(html: string): void {
    this.#leftHtml -= Buffer.byteLength(html);
    this.pages.push({ number: this.pages.length + 1, html });
  }

  async #messageHtml({ fields, body, notes }: Message, heading = ''): Promise<string> {
    this.notes.push(...notes);
    const lines = fields.map(([name, value]) => `<b>${name}:</b> ${escapeText(value)}`);
    const head = lines.length > 0 ? `<p>${lines.join('<br>')}</p>` : '';
    return [heading, head, await this.#bodyHtml(body)].filter((part) => part !== '').join('\n');
  }

  async #bodyHtml(body: Message['body']): Promise<string> {
    if (body.kind !== 'rtf') {
      if (body.kind === 'text') return plainBody(body.text);
      const { html, hiddenCount } = cleanBody(body.text);
      this.hiddenCount += hiddenCount;
      return html;
    }
    const rtf = await kindOf(TYPES.rtf);
    const file = { path: '', size: body.bytes.length, mediaType: TYPES.rtf };
    const { pages, notes, hiddenCount } = await rtf!.parse(file, body.bytes, {});
    this.notes.push(...notes);
    this.hiddenCount += hiddenCount;
    return pages.map(({ html }) => html).join('\n');
  }

  /** Adds the page of an attachment. Returns an attached message, whose own attachments follow. */
  async #attachment(attachment: Attachment, name: string, depth: number): Promise<Message | undefined> {
    try {
      if (attachment.message) return await this.#attachedMessage(attachment.message, name, depth);
      const bytes = attachment.bytes?.() ?? new Uint8Array();
      this.#leftBytes -= bytes.length;
      if (this.#leftBytes < 0) throw new DocumentError('too large', 'the attachments are too large in total');
      const mediaType = typeOf(attachment, bytes);
      if (mediaType === TYPES.eml || mediaType === TYPES.msg) {
        return await this.#attachedMessage(await messageOf(mediaType, bytes), name, depth);
      }
      const html = await this.#documentHtml(bytes, { mediaType, name, contentType: attachment.contentType });
      if (html === '') this.unread.push(`${name} (it has no text)`);
      else this.#add(`${headingOf(name)}\n${html}`);
    } catch (error) {
      this.unread.push(`${name} (${reasonOf(error)})`);
    }
    return undefined;
  }

  async #attachedMessage(read: () => Message, name: string, depth: number): Promise<Message> {
    if (depth > MAX_DEPTH) throw new DocumentError('too large', 'messages are nested too deeply');
    const message = read();
    this.#add(await this.#messageHtml(message, headingOf(message.subject ? `${name}: ${message.subject}` : name)));
    return message;
  }

  async #documentHtml(bytes: Uint8Array, about: { mediaType: string; name: string; contentType: string }) {
    const { mediaType, name, contentType } = about;
    if (mediaType === 'text/html') return cleanBody(decodeText(bytes, contentType).text).html;
    if (/^text\/(?!csv|tab-sep|xml)|^application\/json$/.test(mediaType))
      return preformatted(decodeText(bytes, contentType).text);
    if (mediaType.startsWith('image/')) throw new DocumentError('unsupported', 'it is an image');
    const kind = await kindOf(mediaType);
    if (!kind) throw new DocumentError('unsupported', `files of the type ${mediaType} are not read from messages`);
    const file = { path: '', size: bytes.length, mediaType, name, contentType, password: this.#password };
    const { annotations } = this.#options;
    const timeMs = Math.max(1, this.#until - performance.now());
    const document = await kind.parse(file, bytes, { annotations, timeMs });
    this.hiddenCount += document.hiddenCount;
    for (const note of document.notes) this.notes.push(`${name}: ${note}`);
    const scanned = document.pages.filter((page) => page.scanned).length;
    if (scanned > 0) this.notes.push(`${name}: ${scanned} pages are pictures without text`);
    if (document.source !== undefined) return preformatted(document.source);
    return document.pages
      .map(({ html }) => html)
      .join('\n')
      .trim();
  }
}

const waitingIn = ({ attachments }: Message, prefix: string, depth: number): Waiting[] =>
  attachments.map((attachment, at) => ({ attachment, name: prefix + nameOf(attachment, at), depth }));

const nameOf = ({ name }: Attachment, at: number): string =>
  name
    .replace(/[\s\0-\x1f]+/g, ' ')
    .trim()
    .slice(0, 200) || `attachment ${at + 1}`;

const headingOf = (name: string): string => `<h2>${escapeText(name)}</h2>`;

const preformatted = (text: string): string => (text.trim() === '' ? '' : `<pre>${escapeText(text)}</pre>`);

function reasonOf(error: unknown): string {
  if (!(error instanceof DocumentError)) return 'it is damaged or not what it claims to be';
  return error.message.replace(/^[A-Z](?=[a-z])/, (letter) => letter.toLowerCase());
}

/** By the bytes, then the name, then the declared type. */
function typeOf({ name, contentType }: Attachment, bytes: Uint8Array): string {
  const declared = canonicalType(contentType.split(';', 1)[0]!.trim().toLowerCase());
  const byBytes = typeOfBytes(bytes);
  const found = byBytes ?? typeOfFileName(name) ?? typeOfTextName(name) ?? declared;
  return typeOfContainer(found, bytes);
}

/** Names of text files that are no documents elsewhere. */
function typeOfTextName(name: string): string | undefined {
  if (/\.html?$/i.test(name)) return 'text/html';
  return /\.(?:txt|text|log|md|markdown|json|ya?ml|ics|vcf|srt|ini|conf|sql)$/i.test(name) ? 'text/plain' : undefined;
}

async function messageOf(mediaType: string, bytes: Uint8Array): Promise<() => Message> {
  if (mediaType === TYPES.eml) {
    const { emlMessage } = await import('./eml.ts');
    return () => emlMessage(bytes);
  }
  const { msgMessage } = await import('./msg.ts');
  return () => msgMessage(bytes);
}
