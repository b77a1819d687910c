/** The API of Apache Tika's server, in the forms of its versions 3 and 4. */
import { TYPES } from '#documents/detect.ts';
import { Problem, problem } from '#errors.ts';
import type { Upload } from '#http/body.ts';
import { readUpload } from '#reader/index.ts';
import { guessLanguage } from '#search/index.ts';
import type { CompatCall, CompatMethod, CompatRoute, Dialect } from '../dialect.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { contentIn, FORMS, type Form, MEDIA_TYPES, preferred } from './forms.ts';
import { type Metadata, metadataOf } from './metadata.ts';
import { fileOf, readTikaFile, type TikaFile } from './read-file.ts';

const STATUSES: StatusTable = {
  ParamValidationError: 422,
  InsufficientBalanceError: 429,
  TierFeatureConstraintError: 403,
  SubmittedDataMalformedError: 422,
  AssertionFailureError: 422,
};

/** The version that clients are told; the responses have its format. */
const TIKA_VERSION = '3.3.2';
const JSON_TYPES = ['application/json', 'text/json'];
const TEXT_TYPES = ['text/plain', 'text/html', 'text/xml', 'application/xml', 'application/xhtml+xml', 'text/markdown'];
const CSV = 'text/csv';

const metadata = (file: TikaFile): Metadata =>
  metadataOf(file, { size: file.upload.byteLength, name: file.upload.filename });

function describe(file: TikaFile, form: Form): Metadata {
  const own = metadata(file);
  if (form === 'ignore') return own;
  const content = contentIn(form, file, own);
  return { ...own, 'X-TIKA:content': content, 'tk:content': content };
}

const sendText = (call: CompatCall, file: TikaFile, form: Form) =>
  call.reply.type(MEDIA_TYPES[form]).send(contentIn(form, file, metadata(file)));

/** `/tika`: the form is that of the Accept header. */
async function convertByAccept(call: CompatCall): Promise<unknown> {
  const type = preferred(call.request.headers.accept, [...JSON_TYPES, ...TEXT_TYPES]);
  const file = await readTikaFile(call);
  if (type === undefined || type === 'text/plain') return sendText(call, file, 'text');
  if (type.includes('json')) return sendJson(call.reply, describe(file, 'xml'));
  if (type === 'text/markdown') return sendText(call, file, 'md');
  return sendText(call, file, type === 'text/html' ? 'html' : 'xml');
}

/** `/tika/FORM`: JSON, unless the client accepts text and does not accept JSON. */
const convertTo =
  (form: Form) =>
  async (call: CompatCall): Promise<unknown> => {
    const type = preferred(call.request.headers.accept, [...JSON_TYPES, ...TEXT_TYPES, '*/*']);
    const file = await readTikaFile(call);
    const asText = form === 'md' || form === 'main' || (type !== undefined && TEXT_TYPES.includes(type));
    return asText ? sendText(call, file, form) : sendJson(call.reply, describe(file, form));
  };

const convertToJson =
  (form: Form) =>
  async (call: CompatCall): Promise<unknown> =>
    sendJson(call.reply, describe(await readTikaFile(call), form));

/** Embedded files are part of the text of the file that contains them, so the list has one entry. */
const convertToList =
  (form: Form) =>
  async (call: CompatCall): Promise<unknown> =>
    sendJson(call.reply, [{ ...describe(await readTikaFile(call), form), 'X-TIKA:embedded_depth': '0' }]);

async function sendMetadata(call: CompatCall): Promise<unknown> {
  const found = metadata(await readTikaFile(call));
  if (preferred(call.request.headers.accept, [...JSON_TYPES, CSV]) !== CSV) return sendJson(call.reply, found);
  return sendCsv(call, found);
}

async function sendField(call: CompatCall): Promise<unknown> {
  const name = call.params.field!;
  const found = metadata(await readTikaFile(call));
  if (!Object.hasOwn(found, name)) {
    throw problem('RouteNotFoundError', { message: `The file has no metadata field ${name.slice(0, 100)}` });
  }
  const value = found[name]!;
  const type = preferred(call.request.headers.accept, ['text/plain', ...JSON_TYPES, CSV]);
  if (type === CSV) return sendCsv(call, { [name]: value });
  if (type?.includes('json')) return sendJson(call.reply, { [name]: value });
  return call.reply.type('text/plain; charset=utf-8').send([value].flat().join(', '));
}

function sendCsv({ reply }: CompatCall, fields: Metadata) {
  const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const lines = Object.entries(fields).map(([name, value]) => [name, ...[value].flat()].map(quoted).join(','));
  return reply.type('text/csv; charset=utf-8').send(`${lines.join('\n')}\n`);
}

/** Types of containers whose content decides. */
const CONTAINERS: ReadonlySet<string> = new Set([TYPES.zip, TYPES.ole]);

async function detect(call: CompatCall): Promise<unknown> {
  const upload = await fileOf(call);
  const { given, upload: file } = await readUpload({
    bytes: upload,
    contentType: upload.mediaType,
    name: upload.filename,
    option: 'file',
  });
  const first = file?.mediaType ?? given?.mediaType ?? 'application/octet-stream';
  const type = CONTAINERS.has(first) ? await typeOfContainer(call, upload, first) : first;
  return call.reply.type('text/plain; charset=utf-8').send(type);
}

/** Only a document process opens containers, so the first page is read. */
async function typeOfContainer(call: CompatCall, file: Upload, otherwise: string): Promise<string> {
  try {
    return (await call.native.read(call, { file, page: 1 })).rendition.mediaType ?? otherwise;
  } catch (error) {
    if (error instanceof Problem && STATUSES[error.name] === 422) return otherwise;
    throw error;
  }
}

/** The body is text in UTF-8. An unknown language is an empty text. */
function sendLanguage({ body, reply }: CompatCall) {
  const text = body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : '';
  return reply.type('text/plain; charset=utf-8').send(guessLanguage(text) ?? '');
}

const bytesRoute = (
  method: CompatMethod,
  url: string,
  summary: string,
  handler: CompatRoute['handler'],
): CompatRoute => ({ method, url, access: 'read', bodyAs: 'bytes', summary, handler });

/** A route for a file in the body, and the route for a file in a form. */
const fileRoutes = (
  root: string,
  suffix: string,
  summary: string,
  handler: CompatRoute['handler'],
): readonly CompatRoute[] => [
  bytesRoute('PUT', `${root}${suffix}`, summary, handler),
  { method: 'POST', url: `${root}/form${suffix}`, access: 'read', summary, handler },
];

const publicText = (url: string, summary: string, text: (call: CompatCall) => string): CompatRoute => ({
  method: ['GET', 'HEAD'],
  url,
  access: 'public',
  summary,
  handler: (call) => call.reply.type('text/plain; charset=utf-8').send(text(call)),
});

const nameOf = (call: CompatCall): string => `Apache Tika ${TIKA_VERSION} (Lectern ${call.native.parts.version})`;

const absent = (url: string): CompatRoute =>
  bytesRoute('PUT', url, 'Not offered: the answer is 404.', () => {
    throw problem('RouteNotFoundError', { message: `Lectern does not have ${url} of Tika` });
  });

export const tika: Dialect = {
  name: 'tika',
  title: 'Apache Tika',
  keyPlaces: ['bearer'],
  mayBeKeyless: true,
  writeError: (failure, _, reply) => {
    const isUnknownType = failure.facts.reason === 'unsupported';
    const text = `${failure.message}\n`;
    return reply
      .code(isUnknownType ? 415 : statusOf(failure, STATUSES))
      .type('text/plain; charset=utf-8')
      .send(text);
  },
  routes: [
    ...fileRoutes('/tika', '', 'Converts a file to the type in the Accept header.', convertByAccept),
    ...FORMS.flatMap((form) =>
      fileRoutes('/tika', `/${form}`, `Converts a file, with its content as ${form}.`, convertTo(form)),
    ),
    ...(['', '/text', '/html', '/md'] as const).flatMap((suffix) =>
      fileRoutes(
        '/tika/json',
        suffix,
        'Converts a file to a JSON object.',
        convertToJson((suffix.slice(1) || 'xml') as Form),
      ),
    ),
    ...(['', '/xml', '/html', '/text', '/body', '/ignore'] as const).flatMap((suffix) =>
      fileRoutes(
        '/rmeta',
        suffix,
        'Converts a file to a list with one JSON object.',
        convertToList((suffix.slice(1) || 'xml') as Form),
      ),
    ),
    ...fileRoutes('/meta', '', 'Returns the metadata of a file.', sendMetadata),
    bytesRoute('PUT', '/meta/:field', 'Returns one metadata field of a file.', sendField),
    bytesRoute('PUT', '/detect', 'Returns the media type of a file.', detect),
    bytesRoute('PUT', '/detect/stream', 'Returns the media type of a file.', detect),
    ...['/language', '/language/stream', '/language/string'].flatMap((url) =>
      (['PUT', 'POST'] as const).map((method) =>
        bytesRoute(method, url, 'Returns the language of a text, as two letters.', sendLanguage),
      ),
    ),
    absent('/unpack'),
    absent('/unpack/all'),
    publicText('/tika', 'Greets clients.', (call) => `This is ${nameOf(call)}. Please PUT\n`),
    publicText('/version', 'Returns the version.', nameOf),
    {
      method: ['GET', 'HEAD'],
      url: '/status',
      access: 'public',
      summary: 'Returns the state of the server.',
      handler: ({ reply }) => sendJson(reply, { server_id: 'lectern', status: 'OPERATING', num_restarts: 0 }),
    },
  ],
};
