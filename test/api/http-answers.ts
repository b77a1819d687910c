/**
 * Irregular HTTP responses, byte for byte: examples for each row of the tables in docs/guide/http.md, with the expected
 * outcome in both engines.
 */
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from 'node:zlib';

/** The expected outcome: text of the response and words of its warning, or an error. */
export type Outcome =
  | { readonly text: string; readonly warning?: string | undefined }
  | { readonly error: string; readonly name?: string };

export interface Example {
  readonly bytes: Buffer;
  readonly outcome: Outcome;
  /** Set if the browser's outcome differs, as documented in the row. */
  readonly browser?: Outcome;
  /** Set if the browser's outcome differs when it connects to the target through a tunnel. */
  readonly secureBrowser?: Outcome;
  /** Keeps the connection open. */
  readonly hold?: boolean;
  /** Timeout in seconds, for a response that never ends. */
  readonly timeout?: number;
}

const WORDS = 'The words of the page.';
const HTML = `<!doctype html><title>Seen</title><p>${WORDS}</p>`;
const PAGE: Outcome = { text: WORDS };
const PLAIN = 'Just some plain words.';
const T = 'Content-Type: text/html\r\n';
const OK = `HTTP/1.1 200 OK\r\n${T}`;

const join = (...parts: readonly (string | Buffer)[]) =>
  Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'latin1') : part)));
const size = (body: string | Buffer) => (typeof body === 'string' ? Buffer.byteLength(body) : body.length);
/** A response with these headers and a Content-Length. */
const full = (headers: string, body: string | Buffer = HTML, status = '200 OK') =>
  join(`HTTP/1.1 ${status}\r\n${headers}Content-Length: ${size(body)}\r\nConnection: close\r\n\r\n`, body);
const chunked = (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;

const read = (outcome: Outcome, ...answers: readonly Buffer[]): Example[] =>
  answers.map((bytes) => ({ bytes, outcome }));
const typed = (outcome: Outcome, types: readonly string[], body?: string | Buffer) =>
  read(outcome, ...types.map((type) => full(type === '' ? '' : `Content-Type: ${type}\r\n`, body)));
const encoded = (outcome: Outcome, encoding: string, body: string | Buffer): Example => ({
  bytes: full(`${T}Content-Encoding: ${encoding}\r\n`, body),
  outcome,
});
const refused = (error: string, ...answers: readonly Buffer[]) => read({ error }, ...answers);
const located = (location: string, status = '302 Found') => full(`${T}Location: ${location}\r\n`, HTML, status);

const PDF =
  '%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj 2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj 3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 200]/Contents 4 0 R/Resources<</Font<</F1<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>>>>>>>endobj 4 0 obj<</Length 44>>stream\nBT /F1 12 Tf 10 100 Td (Words in a PDF) Tj ET\nendstream endobj\ntrailer<</Root 1 0 R>>';
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const ZIP = Buffer.from('504b0506000000000000000000000000000000000000', 'hex');
const LONG = `${HTML}${Array.from({ length: 3_000 }, (_, at) => `<p>${at * 7919}`).join('')}`;
const gzip = gzipSync(HTML);
const cut = (bytes: Buffer) => bytes.subarray(0, bytes.length - 1_000);

const NO_TRANSFER = 'The target uses an unsupported transfer encoding';
const TWO_LENGTHS = 'The target sent two different Content-Length values';
const NO_HTTP = 'The target did not send a valid HTTP response';
const SWITCHES = 'The target sent only the interim status 101 and no final response';
const NO_STATUS = 'The target sent an invalid HTTP status';
const CLOSED = 'The target closed the connection';
const BROKEN = 'The target closed the connection before its content was complete';
const NO_CODING = 'The content encoding of the target is not supported';
const TOO_OFTEN = 'The target redirects too many times';
const NO_URL = 'The target redirects to an invalid URL';
const BROKE_OFF = 'broke off before the end';
const A_PART = 'only a part of its content';
const noType = (type: string) => ({ error: `Content of the type ${type} cannot be read` });
const noScheme = { error: 'Only http and https URLs can be read', name: 'ParamValidationError' };

/** Target of the redirects in the examples. */
export const TARGET = '/target';
export const TARGET_ANSWER = full(T);

/** Examples, keyed by the text in the column "The server sends" of docs/guide/http.md, in any order. */
export const ROWS: Readonly<Record<string, readonly Example[]>> = {
  'An image type with HTML': typed(PAGE, ['image/png', 'image/svg+xml']),
  'A PDF or zip type with HTML': typed(PAGE, ['application/pdf', 'application/zip']),
  '`text/plain`, a style sheet or a script type with HTML': typed({ text: '<!doctype html>' }, [
    'text/plain',
    'text/css',
    'application/javascript',
  ]),
  'No type, a malformed type or `application/octet-stream`, with HTML': typed(PAGE, [
    '',
    ' ',
    'html',
    'application/octet-stream',
  ]),
  'No type or `application/octet-stream`, with a PDF': typed(
    { text: 'Words in a PDF' },
    ['', 'application/octet-stream'],
    PDF,
  ),
  'No type or `application/octet-stream`, with text': typed({ text: PLAIN }, ['', 'application/octet-stream'], PLAIN),
  '`text/html` with a PDF or an image': [
    ...typed({ text: 'Words in a PDF' }, ['text/html'], PDF),
    ...typed({ text: 'image of 1 x 1 pixels' }, ['text/html'], PNG),
  ],
  '`text/html` with a zip archive': typed(
    { error: 'Files of the type application/zip cannot be read' },
    ['text/html'],
    ZIP,
  ),
  '`text/html` with plain text or JSON': [
    ...typed({ text: PLAIN }, ['text/html'], PLAIN),
    ...typed({ text: '{"a":"words"}' }, ['text/html'], '{"a":"words"}'),
  ],
  'An unknown type, with HTML': typed(PAGE, ['application/x-own']),
  'An unknown type, with text': typed(noType('application/x-own'), ['application/x-own'], PLAIN),
  'Audio, video or font types, with any content': [
    ...typed(noType('video/mp4'), ['video/mp4']),
    ...typed(noType('audio/mpeg'), ['audio/mpeg']),
    ...typed(noType('font/woff2'), ['font/woff2']),
  ],
  'Several types': [
    ...typed(PAGE, ['text/plain, text/html', 'text/plain\r\nContent-Type: text/html', 'text/html, nonsense']),
    ...typed({ text: '<!doctype html>' }, ['text/html\r\nContent-Type: text/plain']),
  ],
  '`X-Content-Type-Options: nosniff`': read(
    PAGE,
    full('X-Content-Type-Options: nosniff\r\n'),
    full('Content-Type: image/png\r\nX-Content-Type-Options: nosniff\r\n'),
  ),
  'XHTML that is not well-formed': typed(
    { text: 'More words & after' },
    ['application/xhtml+xml'],
    `<html xmlns="http://www.w3.org/1999/xhtml"><head><title>X</title></head><body><p>${WORDS}<br></p><p>More words & after</p></body></html>`,
  ),
  'JSON types, with any content': [
    ...typed({ text: '{"a":"words"}' }, ['application/json'], '{"a":"words"}'),
    ...typed({ text: '<!doctype html>' }, ['application/json']),
  ],
  'XML with an XSLT style sheet': typed(
    { text: 'Words of XML' },
    ['application/xml'],
    '<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><a><x:stylesheet id="s" version="1.0" xmlns:x="http://www.w3.org/1999/XSL/Transform"><x:template match="/"><html><body><p>Made</p></body></html></x:template></x:stylesheet><b>Words of XML</b></a>',
  ),
  '`multipart/…` types': typed(
    noType('multipart/x-mixed-replace'),
    ['multipart/x-mixed-replace; boundary="a,b"'],
    '--a,b\r\nContent-Type: text/html\r\n\r\n<p>one</p>\r\n--a,b--\r\n',
  ),
  '`text/event-stream`': [
    ...typed({ text: 'the words of an event' }, ['text/event-stream'], 'data: the words of an event\n\n'),
    {
      bytes: join('HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: the words of an event\n\n'),
      outcome: { text: 'the words of an event', warning: 'this is the part that arrived' },
      hold: true,
      timeout: 15,
    },
  ],
  '`Content-Disposition: attachment` with HTML': read(
    PAGE,
    full(`${T}Content-Disposition: attachment\r\n`),
    full(`${T}Content-Disposition: attachment; filename="a.html"\r\nContent-Disposition: inline\r\n`),
  ),

  '206 without a range request': [
    ...read(
      { text: WORDS, warning: A_PART },
      full(T, HTML, '206 Partial Content'),
      full(`${T}Content-Range: bytes 0-${size(HTML) - 1}/100000\r\n`, HTML, '206 Partial Content'),
      full(`${T}Content-Range: bytes 500-600/100000\r\n`, HTML, '206 Partial Content'),
    ),
    ...read(PAGE, full(`${T}Content-Range: bytes 0-${size(HTML) - 1}/${size(HTML)}\r\n`, HTML, '206 Partial Content')),
  ],
  'A status from 600 to 999': [600, 799, 999].flatMap((status) =>
    read({ text: WORDS, warning: `error ${status}` }, full(T, HTML, `${status} Own`)),
  ),
  'A status below 100 or above 999': refused(
    NO_STATUS,
    ...['000', '001', '099', '20', '1000'].map((status) => full(T, HTML, `${status} Own`)),
  ),
  'A status line without a reason, or with an unknown version': read(
    PAGE,
    full(T, HTML, '200'),
    full(T, HTML, '  200   O\xe9\x01K'),
    ...['http/1.1', 'HTTP/1.2', 'HTTP/3.7', 'HTTP/1', 'HTTP'].map((version) =>
      join(`${version} 200 OK\r\n${T}Content-Length: ${size(HTML)}\r\n\r\n${HTML}`),
    ),
  ),
  'A status line without a number': read(PAGE, full(T, HTML, 'OK'), full(T, HTML, '-200 OK')),
  'Up to four bytes before the status line': read(PAGE, join('\r\n\r\n', full(T)), join('xx', full(T))),
  'Informational responses (1xx) before the final one': [
    ...read(
      PAGE,
      join('HTTP/1.1 100 Continue\r\n\r\n'.repeat(200), full(T)),
      join('HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n', full(T)),
      join('HTTP/1.1 199 Own\r\n\r\n', full(T)),
    ),
    {
      bytes: join('HTTP/1.1 100 Continue\r\n\r\n'.repeat(12_000), full(T)),
      outcome: { error: 'The headers of the target are too large' },
      secureBrowser: PAGE,
    },
  ],
  '101': refused(SWITCHES, join('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', HTML)),
  'HTTP/0.9, or another protocol': refused(NO_HTTP, join(HTML), join('SSH-2.0-OpenSSH_9.2\r\n')),

  '`Location` with a relative URL, a space or a backslash': read(
    PAGE,
    ...['target', TARGET, '\\target', './a b/../target', '//user:pw@HOST/target'].map((to) => located(to)),
  ),
  '`Location` twice, the same': read(PAGE, located(`${TARGET}\r\nLocation: ${TARGET}`)),
  '`Location` twice, different': refused(
    'The target redirects to two different URLs',
    located(`${TARGET}\r\nLocation: /other`),
  ),
  '`Location` with another scheme than `http` or `https`': read(
    noScheme,
    ...['ftp://127.0.0.1/', 'file:///etc/passwd', 'data:text/html,x', 'javascript:alert(1)', 'mailto:a@b.example'].map(
      (to) => located(to),
    ),
  ),
  '`Location` with an invalid URL': refused(
    NO_URL,
    ...['http://[/', 'http://a b/', 'http:///a%20b', 'http://127.0.0.1:99999/'].map((to) => located(to)),
  ),
  '`Location` with a fragment of the same URL': refused(TOO_OFTEN, located('#part')),
  'A redirect without `Location`': [
    ...read(PAGE, full(T, HTML, '302 Found'), located('')),
    ...refused('The target responded with status 302 and no content', full('', '', '302 Found')),
  ],
  '300, 305 or 306 with `Location`': read(
    PAGE,
    ...['300', '305', '306'].map((status) => located('/nowhere', `${status} Own`)),
  ),
  'Too many redirects': refused(TOO_OFTEN, located('?again')),
  '`Refresh` after at most five seconds, as a header or in the page': read(
    PAGE,
    full(`${T}Refresh: 0; url=${TARGET}\r\n`, '<title>Wait</title><p>Wait.'),
    full(`Content-Type: text/plain\r\nRefresh: 0; url=${TARGET}\r\n`, 'Wait.'),
    full(T, `<title>Wait</title><meta http-equiv=refresh content="0;url='${TARGET}'"><p>Wait.`),
    full(`${T}Refresh: 0; url=${TARGET}\r\n`, '<title>Wait</title><p>Wait.', '404 Not Found'),
  ),
  '`Refresh` after more than five seconds': read(PAGE, full(`${T}Refresh: 600; url=/nowhere\r\n`)),
  '`Refresh` to the page itself, or in a loop': read(PAGE, full(`${T}Refresh: 0\r\n`)),

  '`Transfer-Encoding: chunked`, in one header or repeated': read(
    PAGE,
    ...[
      'Transfer-Encoding: chunked',
      'Transfer-Encoding:\tCHUNKED,',
      'Transfer-Encoding : chunked',
      'Transfer-Encoding: chunked, chunked',
      'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    ].map((header) => join(`${OK}${header}\r\n\r\n${chunked(HTML)}`)),
  ),
  '`Transfer-Encoding` and `Content-Length`': read(
    PAGE,
    join(`${OK}Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n${chunked(HTML)}`),
    join(`${OK}Transfer-Encoding: chunked\r\nContent-Length: 10\r\nContent-Length: 9\r\n\r\n${chunked(HTML)}`),
  ),
  'Another transfer encoding, or `chunked` in another spelling': refused(
    NO_TRANSFER,
    ...['xchunked', '\x0bchunked', '"chunked"', 'chunked;a=b', 'gzip, chunked', 'gzip'].map((coding) =>
      join(`${OK}Transfer-Encoding: ${coding}\r\n\r\n${chunked(HTML)}`),
    ),
  ),
  '`chunked` together with `identity`': refused(
    NO_TRANSFER,
    join(`${OK}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n${chunked(HTML)}`),
  ),
  '`chunked` in HTTP/1.0': refused(
    NO_TRANSFER,
    join(`HTTP/1.0 200 OK\r\n${T}Transfer-Encoding: chunked\r\n\r\n${chunked(HTML)}`),
  ),
  '`Content-Length` twice, the same': read(
    PAGE,
    join(`${OK}Content-Length: ${size(HTML)}\r\nContent-Length: ${size(HTML)}\r\n\r\n${HTML}`),
    join(`${OK}Content-Length: ${size(HTML)}, ${size(HTML)}\r\n\r\n${HTML}`),
  ),
  '`Content-Length` twice, different': refused(
    TWO_LENGTHS,
    join(`${OK}Content-Length: 10\r\nContent-Length: ${size(HTML)}\r\n\r\n${HTML}`),
    join(`${OK}Content-Length: 10, ${size(HTML)}\r\n\r\n${HTML}`),
  ),
  '`Content-Length` that is not a number, or is too large': read(
    PAGE,
    ...['-5', '+5', 'abc', '0x5', '', '5.0', '99999999999999999999999'].map((length) =>
      join(`${OK}Content-Length: ${length}\r\n\r\n${HTML}`),
    ),
  ),
  'More bytes than `Content-Length`': read(
    PAGE,
    join(`${OK}Content-Length: ${size(HTML)}\r\n\r\n${HTML}HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nother`),
  ),
  'Fewer bytes than `Content-Length`, or no last chunk': read(
    { text: WORDS, warning: BROKE_OFF },
    join(`${OK}Content-Length: 5000\r\n\r\n${HTML}`),
    join(`${OK}Transfer-Encoding: chunked\r\n\r\n${size(HTML).toString(16)}\r\n${HTML}\r\n`),
    join(`${OK}Transfer-Encoding: chunked\r\n\r\n1388\r\n${HTML}`),
  ),
  'Chunks with extensions, spaces, bare line feeds or trailers': read(
    PAGE,
    join(`${OK}Transfer-Encoding: chunked\r\n\r\n00${size(HTML).toString(16)};a=b\r\n${HTML}\r\n0\r\nX-T: a\r\n\r\n`),
    join(`${OK}Transfer-Encoding: chunked\r\n\r\n${size(HTML).toString(16)}  \n${HTML}\n0\n\n`),
  ),
  'Malformed chunks': refused(
    BROKEN,
    ...[HTML, `0x5\r\n${HTML}`, `-5\r\n${HTML}`, `ffffffffffffffffff\r\n${HTML}`].map((body) =>
      join(`${OK}Transfer-Encoding: chunked\r\n\r\n${body}`),
    ),
  ),

  '`gzip`, `x-gzip`, `deflate` (zlib or bare), `br`, `zstd`, up to three of them': [
    encoded(PAGE, 'GZIP', gzip),
    encoded(PAGE, 'x-gzip', gzip),
    encoded(PAGE, 'deflate', deflateSync(HTML)),
    encoded(PAGE, 'deflate', deflateRawSync(HTML)),
    encoded(PAGE, 'br', brotliCompressSync(HTML)),
    encoded(PAGE, 'gzip, gzip', gzipSync(gzip)),
    // One frame of one raw block (RFC 8878).
    encoded(
      PAGE,
      'zstd',
      join(Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0x20, size(HTML), (size(HTML) << 3) | 1, size(HTML) >> 5, 0]), HTML),
    ),
  ],
  '`identity`, `none`, or an empty header': ['identity', 'none', ''].map((name) => encoded(PAGE, name, HTML)),
  'An unknown encoding, with text': ['own', 'UTF-8', 'gzip, own'].map((name) => encoded(PAGE, name, HTML)),
  'An unknown encoding, with anything else': [
    encoded({ error: NO_CODING }, 'own', gzip),
    encoded({ error: NO_CODING }, 'gzip, own', gzip),
    encoded({ error: NO_CODING }, 'aes128gcm', Buffer.from([1, 2, 3, 0, 5, 200, 211, 150, 0, 0, 1])),
  ],
  'More than three encodings': [
    encoded({ error: NO_CODING }, 'gzip, gzip, gzip, gzip', gzipSync(gzipSync(gzipSync(gzip)))),
  ],
  'Text that is not encoded, with any `Content-Encoding`': [
    ...['gzip', 'deflate', 'br', 'zstd'].map((name) => encoded(PAGE, name, HTML)),
    encoded(PAGE, 'gzip, gzip', gzip),
  ],
  'Bytes after the end of the encoded content': [
    encoded(PAGE, 'gzip', join(gzip, 'garbage after the end')),
    encoded(PAGE, 'gzip', join(gzip, Buffer.alloc(50))),
    encoded(PAGE, 'deflate', join(deflateSync(HTML), 'garbage after the end')),
    encoded(PAGE, 'deflate', join(deflateRawSync(HTML), 'garbage after the end')),
    encoded(PAGE, 'br', join(brotliCompressSync(HTML), 'garbage after the end')),
  ],
  'A wrong or missing checksum': [
    encoded(PAGE, 'gzip', gzip.subarray(0, -8)),
    encoded(PAGE, 'gzip', join(gzip.subarray(0, -8), Buffer.alloc(8))),
    encoded(PAGE, 'deflate', deflateSync(HTML).subarray(0, -4)),
  ],
  'Several gzip members': [
    {
      ...encoded({ text: 'A second member.' }, 'gzip', join(gzip, gzipSync('<p>A second member.</p>'))),
      browser: PAGE,
    },
  ],
  'Truncated encoded content': (
    [
      ['gzip', gzipSync(LONG)],
      ['deflate', deflateSync(LONG)],
      ['br', brotliCompressSync(LONG)],
    ] as const
  ).map(([name, bytes]) => ({
    ...encoded({ text: WORDS, warning: BROKE_OFF }, name, cut(bytes)),
    browser: PAGE,
  })),

  'A line without a colon, or with an invalid name': read(
    PAGE,
    ...['this line has no colon', 'X Own Name: a', ': a', 'X-\xe9: a', 'X(Own): a', 'X-Own : a'].map((line) =>
      full(`${T}${line}\r\n`),
    ),
    join(`HTTP/1.1 200 OK\r\nno colon here\r\n${T}Content-Length: ${size(HTML)}\r\n\r\n${HTML}`),
  ),
  'A header folded over several lines': read(
    PAGE,
    full(`${T}X-Own: one\r\n two\r\n\tthree\r\n`),
    full('Content-Type: text/html;\r\n charset=utf-8\r\n'),
    join(`HTTP/1.1 200 OK\r\n X-Own: a\r\n${T}Content-Length:\r\n ${size(HTML)}\r\n\r\n${HTML}`),
  ),
  'Bare line feeds': read(
    PAGE,
    join(`HTTP/1.1 200 OK\nContent-Type: text/html\nContent-Length: ${size(HTML)}\n\n${HTML}`),
    join(`HTTP/1.1 200 OK\r\nContent-Type: text/html\nContent-Length: ${size(HTML)}\r\n\n${HTML}`),
  ),
  'Carriage returns without line feeds': refused(CLOSED, join(`HTTP/1.1 200 OK\rContent-Type: text/html\r\r${HTML}`)),
  NUL: refused(NO_HTTP, full(`${T}X-Own: a\0b\r\n`), full('Content-Type: text/h\0tml\r\n')),
  'Up to 256 KiB of headers': read(
    PAGE,
    full(`${T}X-Own: ${'a'.repeat(200_000)}\r\n`),
    full(`${T}${'X-Own: a\r\n'.repeat(12_000)}`),
  ),
  'More than 256 KiB of headers': refused(
    'The headers of the target are too large',
    full(`${T}X-Own: ${'a'.repeat(300_000)}\r\n`),
  ),
  'Nothing, or an incomplete header section': refused(CLOSED, join(''), join('HTTP/1.1 200 OK\r\nContent-Ty')),
};
