/** Reads the file in a request to Tika, with the options in its headers. */
import { problem } from '#errors.ts';
import type { Upload } from '#http/body.ts';
import type { CompatCall } from '../dialect.ts';
import { filesIn, unzipped, uploadOf } from '../documents/uploads.ts';
import { showIgnored, showWarning } from '../ignored.ts';
import type { ReadAnswer } from '../native/read.ts';

export interface TikaFile extends ReadAnswer {
  readonly upload: Upload;
}

/** Headers that the reader decides by itself. */
const IGNORED = /^(?:x-tika-(?!timeout-millis$)|maxembeddedresources$)/;
const MAX_TIMEOUT_S = 180;

export async function readTikaFile(call: CompatCall): Promise<TikaFile> {
  const upload = await fileOf(call);
  const { headers } = call.request;
  showIgnored(
    call.reply,
    Object.keys(headers).filter((name) => IGNORED.test(name)),
  );
  const given = {
    file: upload,
    respondWith: 'markdown',
    ...timeoutOf(headerText(call, 'x-tika-timeout-millis')),
    ...(headerText(call, 'password') && { filePassword: headerText(call, 'password') }),
  };
  const answer = await call.native.read(call, given, { elements: true });
  showWarning(call.reply, answer.page);
  return { ...answer, upload };
}

/** The body, or the first file of a form. */
export async function fileOf(call: CompatCall): Promise<Upload> {
  if (!(call.body instanceof Uint8Array)) {
    const [file] = filesIn(call.body);
    if (!file) throw problem('ParamValidationError', { path: 'body', message: 'body: the form has no file' });
    return file;
  }
  const bytes =
    headerText(call, 'content-encoding') === 'gzip' ? await unzipped(call.body, call, 'Content-Encoding') : call.body;
  return uploadOf(bytes, {
    name: nameIn(headerText(call, 'content-disposition')),
    type: headerText(call, 'content-type'),
  });
}

function timeoutOf(text: string | undefined): { timeout?: number } {
  if (text === undefined) return {};
  const ms = Number(text);
  if (!(ms > 0)) {
    const path = 'X-Tika-Timeout-Millis';
    throw problem('ParamValidationError', { path, message: `${path} must be a positive number` });
  }
  return { timeout: Math.min(ms / 1000, MAX_TIMEOUT_S) };
}

export const headerText = ({ request }: CompatCall, name: string): string | undefined =>
  [request.headers[name]].flat()[0]?.trim() || undefined;

/** The file name of a Content-Disposition header (RFC 6266): `filename*` takes precedence. */
function nameIn(header: string | undefined): string | undefined {
  const encoded = /filename\*\s*=\s*(?:utf-8)?''([^;\s]+)/i.exec(header ?? '')?.[1];
  if (encoded) {
    try {
      return decodeURIComponent(encoded);
    } catch {
      return encoded;
    }
  }
  const found = /filename\s*=\s*(?:"((?:\\.|[^"\\])*)"|([^;\s]+))/i.exec(header ?? '');
  return found?.[1]?.replace(/\\(.)/g, '$1') ?? found?.[2];
}
