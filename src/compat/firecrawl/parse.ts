/** `POST /v2/parse`: converts an uploaded file. */
import { problem } from '#errors.ts';
import { Upload } from '#http/body.ts';
import type { CompatCall } from '../dialect.ts';
import { readFields } from '../fields.ts';
import { SCRAPE_OPTIONS } from './fields.ts';
import { requireModel } from './model-formats.ts';
import { readDocument, sendDocument } from './scrape.ts';
import { toRead } from './to-read.ts';

/** Options that have no meaning for a file. */
const REFUSED = ['actions', 'waitFor', 'location', 'mobile', 'changeTrackingOptions'] as const;

export async function parse(call: CompatCall): Promise<unknown> {
  const { file, options } = call.body as { readonly file?: unknown; readonly options?: unknown };
  if (!(file instanceof Upload) || file.byteLength === 0) {
    throw problem('ParamValidationError', { path: 'file', message: 'file is required: a file part that is not empty' });
  }
  const given = readFields(SCRAPE_OPTIONS, optionsOf(options));
  const refused = REFUSED.find((name) => given[name] !== undefined && given[name] !== false);
  if (refused) {
    const path = `options.${refused}`;
    throw problem('ParamValidationError', { path, message: `${path} cannot be used with a file` });
  }
  const plan = toRead(given, 'v2', 'options.');
  if (plan.formats.screenshot) {
    const path = 'options.formats';
    throw problem('ParamValidationError', { path, message: `${path}: a file has no screenshot` });
  }
  requireModel(call, plan.formats, 'options.formats');
  const { base: _, ...options_ } = plan.given;
  const document = await readDocument(call, {
    plan: { ...plan, given: options_ },
    target: { file },
    sourceUrl: file.filename ?? '',
  });
  return sendDocument(call, document, 'v2');
}

function optionsOf(options: unknown): unknown {
  if (options === undefined || options === '') return {};
  if (typeof options !== 'string') return options;
  try {
    return JSON.parse(options);
  } catch {
    throw problem('ParamValidationError', { path: 'options', message: 'options is not valid JSON' });
  }
}
