/** Writes requests and documents as JSON text in the current form: every field of a document, `null` where empty. */
import { Buffer } from 'node:buffer';
import type { Document, Score, Scores } from '../document.ts';
import type { DataRequest, Route, Status, Timestamp } from '../request.ts';
import { MAX_DOCUMENT_DEPTH } from '../values.ts';

const quote = JSON.stringify as (value: unknown) => string;
const textOrNull = (value: string): string => (value === '' ? 'null' : quoteText(value));
const numberOrNull = (value: number): string => (value && Number.isFinite(value) ? String(value) : 'null');

/** Maximum length of strings that are checked before escaping, because most of them need no escaping. */
const SHORT = 200;
const ESCAPED = /["\\\u0000-\u001f\ud800-\udfff]/;

const quoteText = (text: string): string => (text.length <= SHORT && !ESCAPED.test(text) ? `"${text}"` : quote(text));

export const base64Of = (bytes: Uint8Array): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');

const isEmpty = (record: object): boolean => {
  for (const _ in record) return false;
  return true;
};

const scoreJson = ({ value, opName = '', description = '', refId = '' }: Score): string =>
  `{"value":${numberOrNull(value)},"op_name":${textOrNull(opName)},"description":${textOrNull(description)},"ref_id":${textOrNull(refId)}}`;

function scoresJson(scores: Scores): string {
  if (isEmpty(scores)) return 'null';
  return `{${Object.entries(scores)
    .map(([name, score]) => `${quote(name)}:${scoreJson(score)}`)
    .join(',')}}`;
}

const listJson = (documents: readonly Document[], depth: number): string =>
  documents.length ? documentsJson(documents, depth) : 'null';

const documentsJson = (documents: readonly Document[], depth: number): string =>
  `[${documents.map((document) => documentJson(document, depth)).join(',')}]`;

/** One JSON object. Throws a RangeError when documents are nested too deeply. */
export function documentJson(document: Document, depth = 0): string {
  if (depth > MAX_DOCUMENT_DEPTH + 1) throw new RangeError('chunks or matches are nested too deeply');
  return `{"id":${quoteText(document.id)}${placeJson(document)}${contentJson(document)}${factsJson(document)}${treeJson(document, depth)}}`;
}

// Most fields are empty, and writing one constant is faster than writing each null.

const NO_PLACE = ',"parent_id":null,"granularity":null,"adjacency":null';

function placeJson({ parentId, granularity, adjacency }: Document): string {
  if (parentId === '' && granularity === 0 && adjacency === 0) return NO_PLACE;
  return `,"parent_id":${textOrNull(parentId)},"granularity":${numberOrNull(granularity)},"adjacency":${numberOrNull(adjacency)}`;
}

function contentJson({ content, mimeType }: Document): string {
  const mime = mimeType === '' ? 'null' : quoteText(mimeType);
  if (content === undefined || content === '') return `,"blob":null,"tensor":null,"mime_type":${mime},"text":null`;
  if (typeof content === 'string') return `,"blob":null,"tensor":null,"mime_type":${mime},"text":${quoteText(content)}`;
  if (content instanceof Uint8Array) {
    const blob = content.length ? `"${base64Of(content)}"` : 'null';
    return `,"blob":${blob},"tensor":null,"mime_type":${mime},"text":null`;
  }
  return `,"blob":null,"tensor":${content.toJson()},"mime_type":${mime},"text":null`;
}

function factsJson(document: Document): string {
  const { weight, uri, tags, offset, location, embedding, modality } = document;
  const before =
    weight === 0 && uri === '' && isEmpty(tags) && offset === 0 && location.length === 0
      ? ',"weight":null,"uri":null,"tags":null,"offset":null,"location":null'
      : `,"weight":${numberOrNull(weight)},"uri":${textOrNull(uri)},"tags":${isEmpty(tags) ? 'null' : quote(tags)}` +
        `,"offset":${numberOrNull(offset)},"location":${location.length ? quote(location) : 'null'}`;
  const numbers = embedding ? embedding.toJson() : 'null';
  return `${before},"embedding":${numbers},"modality":${modality === '' ? 'null' : quoteText(modality)}`;
}

function treeJson({ evaluations, scores, chunks, matches }: Document, depth: number): string {
  if (chunks.length === 0 && matches.length === 0 && isEmpty(scores) && isEmpty(evaluations)) {
    return ',"evaluations":null,"scores":null,"chunks":null,"matches":null';
  }
  return (
    `,"evaluations":${scoresJson(evaluations)},"scores":${scoresJson(scores)}` +
    `,"chunks":${listJson(chunks, depth + 1)},"matches":${listJson(matches, depth + 1)}`
  );
}

let lastSecond = Number.NaN;
let lastText = '';

/** ISO 8601 with microseconds, without a time zone. */
function dateTime({ seconds, nanos }: Timestamp): string {
  // The timestamps of a request usually differ by no more than a second or two.
  if (seconds !== lastSecond) {
    lastText = new Date(seconds * 1000).toISOString().slice(0, 19);
    lastSecond = seconds;
  }
  return `${lastText}.${String(Math.floor(nanos / 1000)).padStart(6, '0')}`;
}

export const isoTime = (time: Timestamp): string => `${dateTime(time)}+00:00`;
export const isoTimeZ = (time: Timestamp): string => `${dateTime(time)}Z`;

/** The status as an object for JSON.stringify, in the format of HTTP responses. */
export const statusObject = ({ code, description, exception }: Status) => ({
  code,
  description,
  exception: exception
    ? { name: exception.name, args: exception.args, stacks: exception.stacks, executor: exception.executor }
    : null,
});

const statusJson = (status: Status | undefined): string =>
  status && (status.code !== 0 || status.description || status.exception) ? quote(statusObject(status)) : 'null';

const routeJson = ({ executor, startTime, endTime, status }: Route): string =>
  `{"executor":${quote(executor)},"startTime":${startTime ? `"${isoTime(startTime)}"` : 'null'}` +
  `,"endTime":${endTime ? `"${isoTime(endTime)}"` : 'null'},"status":${statusJson(status)}}`;

/**
 * Written only if the request has a timeout, because clients of the original framework do not expect an unset timeout.
 */
const timeoutJson = ({ timeout }: DataRequest['header']): string =>
  timeout === undefined ? '' : `,"timeout":${timeout}`;

/** The body of an HTTP response. */
export function requestJson({ header, parameters, routes, docs }: DataRequest): string {
  return (
    `{"header":{"requestId":${quote(header.requestId)},"status":${statusJson(header.status)}` +
    `,"execEndpoint":${quote(header.execEndpoint ?? '')},"targetExecutor":${quote(header.targetExecutor ?? '')}` +
    `${timeoutJson(header)}}` +
    `,"parameters":${quote(parameters)},"routes":[${routes.map(routeJson).join(',')}]` +
    `,"data":${documentsJson(docs, 0)}}`
  );
}

/** A WebSocket frame: snake_case keys; unset ones except `target_executor` are left out. */
export function requestFrame({ header, parameters, routes, docs }: DataRequest): string {
  const status = statusJson(header.status);
  const head = [`"request_id":${quote(header.requestId)}`];
  if (status !== 'null') head.push(`"status":${status}`);
  if (header.execEndpoint) head.push(`"exec_endpoint":${quote(header.execEndpoint)}`);
  head.push(`"target_executor":${quote(header.targetExecutor ?? '')}`);
  return (
    `{"header":{${head.join(',')}${timeoutJson(header)}},"parameters":${quote(parameters)}` +
    `,"routes":[${routes.map(routeFrame).join(',')}],"data":${documentsJson(docs, 0)}}`
  );
}

function routeFrame({ executor, startTime, endTime, status }: Route): string {
  const parts = [`"executor":${quote(executor)}`];
  if (startTime) parts.push(`"start_time":"${isoTimeZ(startTime)}"`);
  if (endTime) parts.push(`"end_time":"${isoTimeZ(endTime)}"`);
  const failure = statusJson(status);
  if (failure !== 'null') parts.push(`"status":${failure}`);
  return `{${parts.join(',')}}`;
}
