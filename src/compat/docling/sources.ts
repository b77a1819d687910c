/** The sources in a request to docling-serve, in the forms of its versions v1 and v1alpha. */
import * as z from 'zod';
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { base64Bytes, filesIn, uploadOf } from '../documents/uploads.ts';
import { readFields } from '../fields.ts';
import type { Source } from './convert.ts';

const MAX_SOURCES = 20;

const headers = () => z.record(z.string(), z.string()).nullish();
const HTTP = { url: z.string(), headers: headers() };
const FILE = { base64_string: z.string(), filename: z.string() };

export const SOURCE_FIELDS = z.object({
  sources: z
    .array(
      z.discriminatedUnion('kind', [
        z.object({ kind: z.literal('http'), ...HTTP }),
        z.object({ kind: z.literal('file'), ...FILE }),
      ]),
    )
    .optional()
    .meta({ description: 'URLs and files, at most 20.' }),
  http_sources: z.array(z.object(HTTP)).optional().meta({ description: 'URLs, as in v1alpha.' }),
  file_sources: z.array(z.object(FILE)).optional().meta({ description: 'Files, as in v1alpha.' }),
  options: z.record(z.string(), z.unknown()).default({}).meta({ description: 'The options of the conversion.' }),
  target: z
    .object({ kind: z.enum(['inbody', 'zip']) })
    .optional()
    .meta({ description: '`inbody`, or a ZIP archive.' }),
});

export interface Request {
  readonly sources: readonly Source[];
  readonly options: Readonly<Record<string, unknown>>;
  readonly asZip: boolean;
}

export function readSources(call: CompatCall): Request {
  const {
    sources = [],
    http_sources: http = [],
    file_sources: file = [],
    options,
    target,
  } = readFields(SOURCE_FIELDS, call.body);
  const all = [
    ...sources,
    ...http.map((source) => ({ kind: 'http' as const, ...source })),
    ...file.map((source) => ({ kind: 'file' as const, ...source })),
  ];
  const made = all.map((source): Source => {
    if (source.kind === 'http') return { kind: 'http', url: source.url, headers: source.headers ?? {} };
    const bytes = base64Bytes(source.base64_string, 'sources.base64_string');
    return { kind: 'file', file: uploadOf(bytes, { name: source.filename }, 'sources.base64_string') };
  });
  const asZip = target?.kind === 'zip' || options.return_as_file === true;
  return { sources: counted(made, 'sources'), options, asZip };
}

const TARGET_FIELDS = z.object({ target_type: z.enum(['inbody', 'zip']).default('inbody') });

/** The options of a form are its other fields. */
export function readForm(call: CompatCall): Request {
  const { target_type: target } = readFields(TARGET_FIELDS, call.body);
  const sources = filesIn(call.body, ['files']).map((file): Source => ({ kind: 'file', file }));
  const options = Object.fromEntries(
    Object.entries(call.body as object).filter(([name]) => name !== 'files' && name !== 'target_type'),
  );
  const asZip = target === 'zip' || options.return_as_file === 'true';
  return { sources: counted(sources, 'files'), options, asZip };
}

function counted(sources: readonly Source[], field: string): readonly Source[] {
  if (sources.length > 0 && sources.length <= MAX_SOURCES) return sources;
  throw problem('ParamValidationError', { path: field, message: `${field} must have 1 to ${MAX_SOURCES} entries` });
}
