/** Mistral's `/v1/ocr`: a document in, the Markdown of its pages out. Digital pages give their own text. */
import type { StoredFile } from '#batch/index.ts';
import { Problem, problem } from '#errors.ts';
import type { Upload } from '#http/body.ts';
import type { CompatCall } from '../dialect.ts';
import { base64Bytes, uploadOf } from '../documents/uploads.ts';
import { sendJson } from '../errors.ts';
import { readFields, renamePath } from '../fields.ts';
import { sentFields, showIgnored, showWarning } from '../ignored.ts';
import { IGNORED_OCR_FIELDS, OCR_FIELDS, type OcrFields, REFUSED_OCR_FIELDS } from './fields.ts';
import { bytesOf, fileOfSignedUrl, ownFile } from './files.ts';
import { toPages } from './pages.ts';

const FIELD_NAMES = { url: 'document', file: 'document', page: 'pages' };

export async function recognize(call: CompatCall): Promise<unknown> {
  const asked = readFields(OCR_FIELDS, call.body);
  checkFields(call, asked);
  const source = await sourceOf(call, asked);
  const answer = await call.native.read(call, toReadFields(source, asked), { elements: true }).catch((error) => {
    throw error instanceof Problem ? renamePath(error, FIELD_NAMES) : error;
  });
  if (answer.page.blocked) throw problem('BlockedPageError', { path: 'document' });
  showWarning(call.reply, answer.page);
  const pages = toPages(answer, asked);
  return sendJson(call.reply, {
    pages,
    model: asked.model,
    document_annotation: null,
    usage_info: { pages_processed: pages.length, doc_size_bytes: 'file' in source ? source.file.byteLength : null },
  });
}

function checkFields(call: CompatCall, { model }: OcrFields): void {
  const given = call.body as Record<string, unknown>;
  const [refused] = sentFields(given, REFUSED_OCR_FIELDS);
  if (refused) {
    const message = `${refused} is not offered: this server does not annotate documents`;
    throw problem('ParamValidationError', { path: refused, message });
  }
  if (!/ocr/i.test(model)) {
    const message = `Model ${model.slice(0, 100)} not found; any name of an OCR model, such as mistral-ocr-latest, is accepted`;
    throw problem('ModelNotFoundError', { path: 'model', message });
  }
  showIgnored(call.reply, sentFields(given, IGNORED_OCR_FIELDS));
}

type OcrSource = { readonly file: Upload } | { readonly url: string };

async function sourceOf(call: CompatCall, { document }: OcrFields): Promise<OcrSource> {
  if (document.type === 'file') return storedFile(call, await ownFile(call, document.file_id));
  const url = document.type === 'image_url' ? document.image_url : document.document_url;
  const field = `document.${document.type}`;
  if (/^data:/i.test(url)) {
    const name = document.type === 'document_url' ? (document.document_name ?? undefined) : undefined;
    const found = /^data:([^,;]*)[^,]*?;base64,/i.exec(url.slice(0, 500));
    if (!found) {
      throw problem('ParamValidationError', { path: field, message: `${field} must be a data URL in base64` });
    }
    return { file: uploadOf(base64Bytes(url.slice(found[0].length), field), { name, type: found[1] }, field) };
  }
  const own = await fileOfSignedUrl(call, url);
  return own ? storedFile(call, own) : { url };
}

async function storedFile(call: CompatCall, file: StoredFile): Promise<OcrSource> {
  const type = file.mediaType ?? undefined;
  return { file: uploadOf(await bytesOf(call, file), { name: file.name, type }, 'document') };
}

const toReadFields = (source: OcrSource, { pages, include_image_base64: withImages }: OcrFields) => ({
  ...source,
  ...(pages?.length === 1 && { page: pages[0]! + 1 }),
  ...(withImages && { retainImages: 'all' }),
});
