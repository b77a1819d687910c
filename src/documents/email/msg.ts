/** Messages of Outlook (MS-OXMSG): MSG, an OLE file whose streams are properties. */
import { decodeHtml } from '#html/decode.ts';
import { type OleStorage, openOle } from '../archive/ole.ts';
import { DocumentError, type DocumentKind } from '../document.ts';
import { decompressRtf } from './compressed-rtf.ts';
import type { Attachment, Message, MessageBody } from './message.ts';
import { type Properties, readProperties } from './msg-properties.ts';
import { readMessageFile } from './read-message.ts';
import { containsHtml, htmlInRtf } from './rtf-html.ts';

export const kind: DocumentKind = {
  async parse(file, bytes, options) {
    return readMessageFile(msgMessage(bytes), file, options);
  },
};

/** Property ids (MS-OXPROPS). */
const SUBJECT = 0x0037;
const SENT = 0x0039;
const DELIVERED = 0x0e06;
const SENDER_NAME = 0x0c1a;
const SENDER_ADDRESS = 0x0c1f;
const SENDER_SMTP = 0x5d01;
const TO = 0x0e04;
const CC = 0x0e03;
const BODY = 0x1000;
const RTF = 0x1009;
const HTML = 0x1013;
const CODE_PAGE = 0x3fde;
const RECIPIENT_TYPE = 0x0c15;
const NAME = 0x3001;
const ADDRESS = 0x3003;
const SMTP = 0x39fe;
const ATTACHED = 0x3701;
const LONG_FILE_NAME = 0x3707;
const FILE_NAME = 0x3704;
const MEDIA_TYPE = 0x370e;
const CONTENT_ID = 0x3712;
const IS_HIDDEN = 0x7ffe;

/** Storages beyond this number are ignored, with a warning. */
const MAX_STORAGES = 2_000;
const ROOT_HEADER_BYTES = 32;
const EMBEDDED_HEADER_BYTES = 24;
const ITEM_HEADER_BYTES = 8;

/** Throws DocumentError. */
export function msgMessage(bytes: Uint8Array): Message {
  const root = openOle(bytes);
  if (!root.stream('__properties_version1.0')) throw new DocumentError('damaged', 'The file is not an Outlook message');
  return messageIn(root, ROOT_HEADER_BYTES);
}

function messageIn(storage: OleStorage, headerBytes: number): Message {
  const properties = readProperties(storage, headerBytes);
  const named = (start: string) => storage.storages.filter(({ name }) => name.toLowerCase().startsWith(start));
  const recipients = named('__recip_version1.0_').slice(0, MAX_STORAGES);
  const attached = named('__attach_version1.0_');
  const sentTime = properties.time(SENT) ?? properties.time(DELIVERED);
  const body = bodyOf(properties);
  const html = body.kind === 'html' ? body.text : '';
  const people = recipients.map((one) => readProperties(one, ITEM_HEADER_BYTES, properties.charset));
  const all: [string, string][] = [
    ['From', senderOf(properties)],
    ['To', peopleOf(people, 1) || properties.text(TO)],
    ['Cc', peopleOf(people, 2) || properties.text(CC)],
    ['Date', sentTime ?? ''],
  ];
  return {
    subject: oneLine(properties.text(SUBJECT)),
    fields: all.filter(([, value]) => value !== ''),
    sentTime,
    body,
    attachments: attached
      .slice(0, MAX_STORAGES)
      .map((one) => attachmentOf(one, properties.charset, html))
      .filter((one) => one !== undefined),
    notes: attached.length > MAX_STORAGES ? ['The message has too many attachments; some were left out'] : [],
  };
}

const oneLine = (text: string): string => text.replace(/[\s\0-\x1f]+/g, ' ').trim();

function senderOf(properties: Properties): string {
  return personOf(properties.text(SENDER_NAME), properties.text(SENDER_SMTP) || properties.text(SENDER_ADDRESS));
}

const peopleOf = (people: readonly Properties[], type: number): string =>
  people
    .filter((person) => (person.number(RECIPIENT_TYPE) ?? 1) === type)
    .map((person) => personOf(person.text(NAME), person.text(SMTP) || person.text(ADDRESS)))
    .filter((person) => person !== '')
    .join(', ');

/** Addresses of Exchange, such as `/O=ORG/OU=…`, are no addresses of mail. */
function personOf(name: string, address: string): string {
  const mail = address.includes('@') ? oneLine(address) : '';
  const plain = oneLine(name).replace(/^'(.*)'$/, '$1');
  if (plain === '' || plain === mail) return mail || plain;
  return mail === '' ? plain : `${plain} <${mail}>`;
}

function bodyOf(properties: Properties): MessageBody {
  const plain = properties.text(BODY);
  const html = properties.bytes(HTML);
  if (html && html.length > 0) {
    const page = properties.number(CODE_PAGE);
    const declared = page === 65001 ? 'text/html; charset=utf-8' : undefined;
    return { kind: 'html', text: decodeHtml(html, declared).text };
  }
  const written = properties.text(HTML);
  if (written !== '') return { kind: 'html', text: written };
  const rtf = rtfOf(properties);
  if (rtf && containsHtml(rtf)) return { kind: 'html', text: htmlInRtf(rtf) };
  return rtf && (plain.trim() === '' || !isMadeFromText(rtf))
    ? { kind: 'rtf', bytes: rtf }
    : { kind: 'text', text: plain };
}

const isMadeFromText = (rtf: Uint8Array): boolean => Buffer.from(rtf.subarray(0, 1_024)).includes('\\fromtext');

/** Damaged RTF is ignored if there is another body. */
function rtfOf(properties: Properties): Uint8Array | undefined {
  const packed = properties.bytes(RTF);
  if (!packed || packed.length === 0) return undefined;
  try {
    const rtf = decompressRtf(packed);
    return Buffer.from(rtf.subarray(0, 64)).includes('{\\rtf') ? rtf : undefined;
  } catch (error) {
    if (error instanceof DocumentError && properties.text(BODY).trim() !== '') return undefined;
    throw error;
  }
}

function attachmentOf(storage: OleStorage, charset: Properties['charset'], html: string): Attachment | undefined {
  const properties = readProperties(storage, ITEM_HEADER_BYTES, charset);
  const contentType = properties.text(MEDIA_TYPE);
  const id = oneLine(properties.text(CONTENT_ID)).replace(/^<|>$/g, '');
  const name = oneLine(properties.text(LONG_FILE_NAME) || properties.text(FILE_NAME) || properties.text(NAME));
  const isShown = id !== '' && html.includes(`cid:${id}`);
  const isImage = contentType.startsWith('image/') || /\.(?:png|jpe?g|gif|bmp|svg|webp)$/i.test(name);
  if (isImage && (isShown || properties.number(IS_HIDDEN) === 1)) return undefined;
  const embedded = storage.storage('__substg1.0_3701000D');
  if (embedded?.stream('__properties_version1.0')) {
    return { name, contentType, message: () => messageIn(embedded, EMBEDDED_HEADER_BYTES) };
  }
  if (embedded) return { name, contentType: contentType || 'application/x-ole-storage', bytes: refuseOleObject };
  return { name, contentType, bytes: () => properties.bytes(ATTACHED) ?? new Uint8Array() };
}

function refuseOleObject(): never {
  throw new DocumentError('unsupported', 'it is an embedded object');
}
