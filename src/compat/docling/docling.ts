/** The API of docling-serve, v1 and v1alpha: conversion of files and URLs, at once or as a task. */
import * as z from 'zod';
import { type Problem, problem } from '#errors.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { zip } from '../documents/zip.ts';
import { type StatusTable, sendJson, statusOf } from '../errors.ts';
import { numberText, readFields } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import type { TaskRecord, TaskResult } from '../kept/tasks.ts';
import { convert, type DoclingResult } from './convert.ts';
import { OPTION_FIELDS, readOptions } from './options.ts';
import { type Request, readForm, readSources, SOURCE_FIELDS } from './sources.ts';

const STATUSES: StatusTable = {
  ParamValidationError: 422,
  SecurityCompromiseError: 422,
  TierFeatureConstraintError: 403,
};
/** The version whose formats the responses have. */
const DOCLING_VERSION = '1.10.0';
const MAX_WAIT_S = 60;

type ReadRequest = (call: CompatCall) => Request;

/** The conversion of a request, with its fields checked. */
function prepare(
  call: CompatCall,
  read: ReadRequest,
): { request: Request; work: (signal?: AbortSignal) => Promise<TaskResult> } {
  const request = read(call);
  const { options, ignored } = readOptions(request.options);
  showIgnored(call.reply, ignored);
  return {
    request,
    async work(signal) {
      const results: DoclingResult[] = [];
      for (const source of request.sources) results.push(await convert(call, source, options, signal));
      return write(results, request.asZip);
    },
  };
}

/** Several documents are an archive, as in the original. */
function write(results: readonly DoclingResult[], asZip: boolean): TaskResult {
  const failed = results.filter(({ status }) => status === 'failure').length;
  const [only] = results;
  if (results.length === 1 && !asZip) {
    return { bytes: Buffer.from(JSON.stringify(only)), mediaType: 'application/json', failed };
  }
  return { bytes: zip(results.flatMap(entriesOf)), mediaType: 'application/zip', failed };
}

function entriesOf({ document, status, errors }: DoclingResult, at: number) {
  const stem = `${at + 1}-${document.filename.replace(/\.[^.]+$/, '').replace(/[\\/:]/g, '_')}`;
  const entries = [
    ['md', document.md_content],
    ['html', document.html_content],
    ['txt', document.text_content],
    ['json', document.json_content && JSON.stringify(document.json_content)],
    ['error.txt', status === 'failure' ? errors.map((error) => error.error_message).join('\n') : null],
  ] as const;
  return entries.flatMap(([extension, text]) =>
    text === null ? [] : [{ name: `${stem}.${extension}`, bytes: Buffer.from(text) }],
  );
}

const send = ({ reply }: CompatCall, { bytes, mediaType }: Pick<TaskResult, 'bytes' | 'mediaType'>) =>
  reply.type(mediaType === 'application/json' ? 'application/json; charset=utf-8' : mediaType).send(Buffer.from(bytes));

const convertNow =
  (read: ReadRequest) =>
  async (call: CompatCall): Promise<unknown> =>
    send(call, await prepare(call, read).work());

const convertLater =
  (read: ReadRequest) =>
  async (call: CompatCall): Promise<unknown> => {
    const { request, work } = prepare(call, read);
    return sendJson(call.reply, statusBody(await call.native.tasks.start(call, request.sources.length, work)));
  };

function statusBody({ id, status, parts, failed, error }: TaskRecord): object {
  const done = status === 'started' ? 0 : parts;
  return {
    task_id: id,
    task_type: 'convert',
    task_status: status,
    task_position: status === 'started' ? 0 : null,
    task_meta: { num_docs: parts, num_processed: done, num_succeeded: done - failed, num_failed: failed },
    error_message: error ?? null,
  };
}

const unknownTask = (): Problem => problem('ResourceNotFoundError', { message: 'Task not found.' });

const POLL_FIELDS = z.object({
  wait: numberText()
    .pipe(z.number().min(0))
    .default(0)
    .meta({ description: 'Seconds to wait for the end, at most 60.' }),
});

async function poll(call: CompatCall): Promise<unknown> {
  const { wait } = readFields(POLL_FIELDS, call.query);
  const record = await call.native.tasks.get(call, call.params.id!, Math.min(wait, MAX_WAIT_S) * 1_000);
  if (!record) throw unknownTask();
  return sendJson(call.reply, statusBody(record));
}

async function sendResult(call: CompatCall): Promise<unknown> {
  const record = await call.native.tasks.get(call, call.params.id!);
  if (!record) throw unknownTask();
  if (record.status === 'started') {
    throw problem('ResourceNotFoundError', {
      message: 'Task result not found. The task has not ended; poll its status',
    });
  }
  const bytes = await call.native.tasks.result(record);
  if (!bytes)
    throw problem('ResourceNotFoundError', { message: `Task result not found. ${record.error ?? ''}`.trim() });
  return send(call, { bytes, mediaType: record.mediaType ?? 'application/json' });
}

const VERSIONS = ['/v1', '/v1alpha'] as const;

const conversions = VERSIONS.flatMap((version): CompatRoute[] =>
  (
    [
      ['file', readForm, OPTION_FIELDS],
      ['source', readSources, SOURCE_FIELDS],
    ] as const
  ).flatMap(([kind, read, fields]) => [
    {
      method: 'POST',
      url: `${version}/convert/${kind}`,
      access: 'read',
      summary: 'Converts files or URLs.',
      fields,
      handler: convertNow(read),
    },
    {
      method: 'POST',
      url: `${version}/convert/${kind}/async`,
      access: 'read',
      summary: 'Starts a task that converts files or URLs.',
      fields,
      handler: convertLater(read),
    },
  ]),
);

const taskRoutes = VERSIONS.flatMap((version): CompatRoute[] => [
  {
    method: 'GET',
    url: `${version}/status/poll/:id`,
    access: 'read',
    summary: 'Returns the status of a task.',
    handler: poll,
  },
  {
    method: 'GET',
    url: `${version}/result/:id`,
    access: 'read',
    summary: 'Returns the result of a task.',
    handler: sendResult,
  },
]);

const ABSENT = ['/chunk/hybrid/file', '/chunk/hybrid/source', '/chunk/hierarchical/file', '/chunk/hierarchical/source'];

const absentRoutes = ABSENT.map(
  (url): CompatRoute => ({
    method: 'POST',
    url: `/v1${url}`,
    access: 'public',
    summary: 'Not offered: the answer is 404.',
    handler: () => {
      throw problem('RouteNotFoundError', { message: `Lectern does not have /v1${url} of docling-serve` });
    },
  }),
);

const stateRoutes = ['/health', '/ready', '/livez', '/readyz', '/api'].map(
  (url): CompatRoute => ({
    method: ['GET', 'HEAD'],
    url,
    access: 'public',
    summary: 'Says that the server runs.',
    handler: ({ reply }) => sendJson(reply, { status: 'ok' }),
  }),
);

export const docling: Dialect = {
  name: 'docling',
  title: 'docling-serve',
  keyPlaces: [{ header: 'x-api-key' }, 'bearer'],
  mayBeKeyless: true,
  writeError: (failure, _, reply) => sendJson(reply.code(statusOf(failure, STATUSES)), { detail: failure.message }),
  routes: [
    ...conversions,
    ...taskRoutes,
    ...absentRoutes,
    ...stateRoutes,
    {
      method: ['GET', 'HEAD'],
      url: '/version',
      access: 'public',
      summary: 'Returns the version.',
      handler: ({ reply, native }) => {
        const { version } = native.parts;
        return sendJson(reply, { version, lectern: version, 'docling-serve': DOCLING_VERSION });
      },
    },
  ],
};
