/**
 * Writes answers of REST version 1: the protobuf message in camelCase, without empty fields
 * (docs/reference/wire/flow.md, REST versions).
 */
import { createHash } from 'node:crypto';
import type { Document, Score } from '../document.ts';
import { base64Of, isoTimeZ } from '../json/index.ts';
import type { NdArray } from '../ndarray.ts';
import { type DataRequest, ERROR, type Route, type Status } from '../request.ts';
import type { JsonObject } from '../values.ts';

export const OLD_KINDS = ['index', 'search', 'update', 'delete', 'train'] as const;
export type OldKind = (typeof OLD_KINDS)[number];

export interface QueryLanguage {
  readonly name: string;
  readonly parameters?: JsonObject;
  readonly priority?: number;
}

/** The key, only if it has a value. */
const given = <T>(key: string, value: T, isGiven = Boolean(value)): Record<string, T> =>
  isGiven ? { [key]: value } : {};

/** An array with its bytes, as in protobuf's JSON mapping. */
export function arrayObject(array: NdArray): object {
  const { dense } = array;
  if (!dense) return { list: array.toList() };
  return { dense: { buffer: base64Of(dense.buffer), shape: dense.shape, dtype: dense.dtype } };
}

const scoreObject = ({ value, opName, description, refId }: Score, name: string) => ({
  ...given('value', value),
  opName: opName || name,
  ...given('description', description),
  ...given('refId', refId),
});

const contentHash = (document: Document): string => {
  const { content } = document;
  const bytes = content === undefined || typeof content === 'string' || content instanceof Uint8Array;
  return createHash('blake2b512')
    .update(bytes ? (content ?? '') : content.buffer)
    .digest('hex')
    .slice(0, 16);
};

export function oldDocument(document: Document): object {
  const { blob, tensor, embedding } = document;
  const [score] = Object.entries(document.scores);
  const evaluations = Object.entries(document.evaluations);
  return {
    id: document.id,
    ...given('parentId', document.parentId),
    ...given('granularity', document.granularity),
    ...given('adjacency', document.adjacency),
    ...(blob?.length && { buffer: base64Of(blob) }),
    ...(tensor && { blob: arrayObject(tensor) }),
    ...given('text', document.text),
    ...given('mimeType', document.mimeType),
    ...given('weight', document.weight),
    ...given('uri', document.uri),
    ...given('tags', document.tags, Object.keys(document.tags).length > 0),
    ...given('offset', Math.trunc(document.offset)),
    ...given('location', document.location.map(Math.trunc), document.location.length > 0),
    ...(embedding && { embedding: arrayObject(embedding) }),
    ...given('modality', document.modality),
    ...(score && { score: scoreObject(score[1], score[0]) }),
    ...(evaluations.length && { evaluations: evaluations.map(([name, one]) => scoreObject(one, name)) }),
    ...given('chunks', document.chunks.map(oldDocument), document.chunks.length > 0),
    ...given('matches', document.matches.map(oldDocument), document.matches.length > 0),
    contentHash: contentHash(document),
  };
}

function oldStatus(status: Status | undefined): object {
  if (status?.code !== ERROR) return {};
  const { description, exception } = status;
  return {
    code: 'ERROR',
    description,
    ...(exception && { exception: { name: exception.name, args: exception.args, stacks: exception.stacks } }),
  };
}

const oldRoute = ({ executor, startTime, endTime, status }: Route): object => ({
  pod: executor,
  podId: executor,
  ...(startTime && { startTime: isoTimeZ(startTime) }),
  ...(endTime && { endTime: isoTimeZ(endTime) }),
  ...given('status', oldStatus(status), status?.code === ERROR),
});

/** The gateway's route is both first and last. */
function oldRoutes(routes: readonly Route[]): object[] {
  const [gateway] = routes;
  return [...routes, ...(gateway ? [gateway] : [])].map(oldRoute);
}

/** Formats 32 hexadecimal digits as a UUID. Any other id stays as it is. */
export const dashed = (id: string): string => id.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, '$1-$2-$3-$4-$5');

export interface OldAsked {
  /** The request id that the client sent and expects back. Without one, the flow's id is formatted as a UUID. */
  readonly requestId?: string | undefined;
  readonly kind: OldKind;
  readonly queryset: readonly QueryLanguage[];
}

export function oldAnswer({ header, docs, routes }: DataRequest, { requestId, kind, queryset }: OldAsked): object {
  const body = kind === 'delete' ? { ids: docs.map(({ id }) => id) } : { docs: docs.map(oldDocument) };
  return {
    requestId: requestId ?? dashed(header.requestId),
    [kind]: docs.length ? body : {},
    status: oldStatus(header.status),
    ...given('queryset', queryset, queryset.length > 0),
    routes: oldRoutes(routes),
  };
}

export interface OldControl {
  readonly requestId: string;
  readonly command: 'STATUS' | 'RELOAD';
  readonly targets: readonly string[];
  readonly routes: readonly Route[];
}

export const oldControlAnswer = ({ requestId, command, targets, routes }: OldControl): object => ({
  requestId,
  control: { command, propagate: true, ...given('targets', targets, targets.length > 0) },
  status: command === 'STATUS' ? { code: 'READY' } : {},
  routes: oldRoutes(routes),
});
