/** Unstructured's API: files in, elements or chunks out. */
import { problem } from '#errors.ts';
import { Upload } from '#http/body.ts';
import type { CompatCall, Dialect } from '../dialect.ts';
import { filesIn, unzipped, uploadOf } from '../documents/uploads.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { readFields } from '../fields.ts';
import { sentFields, showIgnored, showWarning } from '../ignored.ts';
import { toChunks } from './chunks.ts';
import { toElements, type UnstructuredElement } from './elements.ts';
import { GENERAL_FIELDS, type GeneralFields, IGNORED_FIELDS } from './fields.ts';

const STATUSES: StatusTable = {
  ParamValidationError: 422,
  SecurityCompromiseError: 422,
  TierFeatureConstraintError: 403,
};

async function partition(call: CompatCall): Promise<unknown> {
  const asked = readFields(GENERAL_FIELDS, call.body);
  const files = await filesOf(call, asked);
  const ignored = sentFields(call.body as Record<string, unknown>, IGNORED_FIELDS);
  showIgnored(call.reply, [...ignored, ...(asked.strategy === 'auto' ? [] : ['strategy'])]);
  const results: UnstructuredElement[][] = [];
  const warnings: string[] = [];
  for (const file of files) {
    const answer = await call.native.read(call, toReadFields(file, asked), { elements: true });
    if (answer.page.warning) warnings.push(answer.page.warning);
    const elements = toElements(answer, file.filename ?? 'file', asked);
    const { chunking_strategy: strategy } = asked;
    results.push(strategy === '' || strategy === 'none' ? elements : toChunks(elements, asked));
  }
  showWarning(call.reply, { warning: warnings.join('\n') });
  if (asked.output_format === 'text/csv') return sendCsv(call, results.flat());
  return sendJson(call.reply, results.length === 1 ? results[0] : results);
}

async function filesOf(call: CompatCall, asked: GeneralFields): Promise<readonly Upload[]> {
  const given = [(call.body as Record<string, unknown>).files].flat().filter((one) => one instanceof Upload);
  // The original answers 400 to an empty file.
  if (given.some(({ byteLength }) => byteLength === 0)) {
    throw problem('DataStreamBrokenError', { path: 'files', message: 'files: the file is empty' });
  }
  const files = filesIn(call.body, ['files']);
  if (files.length === 0)
    throw problem('ParamValidationError', { path: 'files', message: 'files: a file is required' });
  const { content_type: type, gz_uncompressed_content_type: inner } = asked;
  const readable = async (file: Upload): Promise<Upload> => {
    if (inner === undefined) return type === undefined ? file : uploadOf(file, { name: file.filename, type }, 'files');
    const bytes = await unzipped(file, call, 'gz_uncompressed_content_type');
    return uploadOf(bytes, { name: file.filename?.replace(/\.gz$/i, ''), type: inner }, 'files');
  };
  return Promise.all(files.map(readable));
}

const toReadFields = (file: Upload, { extract_image_block_types: images }: GeneralFields) => ({
  file,
  respondWith: 'markdown',
  ...(images?.length && { retainImages: 'all' }),
});

/** The metadata of an element are columns. Values that are no texts are JSON. */
function sendCsv({ reply }: CompatCall, elements: readonly UnstructuredElement[]) {
  const columns = [...new Set(elements.flatMap(({ metadata }) => Object.keys(metadata)))];
  const cell = (value: unknown) => {
    const text = value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const rows = elements.map(({ type, element_id, text, metadata }) =>
    [type, element_id, text, ...columns.map((name) => metadata[name])].map(cell).join(','),
  );
  const head = ['type', 'element_id', 'text', ...columns].join(',');
  return reply.type('text/csv; charset=utf-8').send(`${[head, ...rows].join('\n')}\n`);
}

const GENERAL = '/general/v0/general';

export const unstructured: Dialect = {
  name: 'unstructured',
  title: 'Unstructured',
  keyPlaces: [{ header: 'unstructured-api-key' }, 'bearer'],
  mayBeKeyless: true,
  writeError: (failure, _, reply) => {
    const status = failure.facts.reason === 'unsupported' ? 415 : statusOf(failure, STATUSES);
    return sendJson(reply.code(status), { detail: failure.message });
  },
  routes: [
    {
      method: 'POST',
      url: GENERAL,
      access: 'read',
      summary: 'Splits files into elements or chunks.',
      fields: GENERAL_FIELDS,
      handler: partition,
    },
    {
      method: 'GET',
      url: GENERAL,
      access: 'public',
      summary: 'Not allowed: the answer is 405.',
      handler: () => {
        throw problem('MethodNotAllowedError', { message: 'Only POST requests are supported.' });
      },
    },
    {
      method: ['GET', 'HEAD'],
      url: '/healthcheck',
      access: 'public',
      summary: 'Says that the server runs.',
      handler: ({ reply }) => sendJson(reply, { healthcheck: 'HEALTHCHECK STATUS: EVERYTHING OK!' }),
    },
  ],
};
