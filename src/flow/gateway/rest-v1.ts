/**
 * Writes responses of REST version 1: the protobuf message in camelCase, without empty fields
 * (docs/reference/wire/flow.md, Generations).
 */
import type { Document, Score } from '../document.ts';
import { base64Of, isoTimeZ } from '../json/index.ts';
import type { NdArray } from '../ndarray.ts';
import { contentHash } from '../proto/old-document.ts';
import { type DataRequest, ERROR, type Route, type Status } from '../request.ts';
import type { JsonObject } from '../values.ts';

export const V1_KINDS = ['index', 'search', 'update', 'delete', 'train'] as const;
export type V1Kind = (typeof V1_KINDS)[number];

export interface QueryLanguage {
  readonly name: string;
  readonly parameters?: JsonObject;
  readonly priority?: number;
}

/** An object with the key, or an empty object if the key has no value. */
const ifGiven = <T>(key: string, value: T, isGiven = Boolean(value)): Record<string, T> =>
  isGiven ? { [key]: value } : {};

/** An array with its bytes, as in protobuf's JSON mapping. */
export function arrayObject(array: NdArray): object {
  const { dense } = array;
  if (!dense) return { list: array.toList() };
  return { dense: { buffer: base64Of(dense.buffer), shape: dense.shape, dtype: dense.dtype } };
}

const scoreObject = ({ value, opName, description, refId }: Score, name: string) => ({
  ...ifGiven('value', value),
  opName: opName || name,
  ...ifGiven('description', description),
  ...ifGiven('refId', refId),
});

const NO_IDS: ReadonlySet<string> = new Set();

/** `objectIds` are the ids of documents whose tags are written even if empty. */
export function v1Document(document: Document, objectIds = NO_IDS): object {
  const { blob, tensor, embedding } = document;
  const [score] = Object.entries(document.scores);
  const evaluations = Object.entries(document.evaluations);
  const writeAll = (documents: readonly Document[]) => documents.map((one) => v1Document(one, objectIds));
  return {
    id: document.id,
    ...ifGiven('parentId', document.parentId),
    ...ifGiven('granularity', document.granularity),
    ...ifGiven('adjacency', document.adjacency),
    ...(blob?.length && { buffer: base64Of(blob) }),
    ...(tensor && { blob: arrayObject(tensor) }),
    ...ifGiven('text', document.text),
    ...ifGiven('mimeType', document.mimeType),
    ...ifGiven('weight', document.weight),
    ...ifGiven('uri', document.uri),
    ...ifGiven('tags', document.tags, Object.keys(document.tags).length > 0 || objectIds.has(document.id)),
    ...ifGiven('offset', Math.trunc(document.offset)),
    ...ifGiven('location', document.location.map(Math.trunc), document.location.length > 0),
    ...(embedding && { embedding: arrayObject(embedding) }),
    ...ifGiven('modality', document.modality),
    ...(score && { score: scoreObject(score[1], score[0]) }),
    ...(evaluations.length && { evaluations: evaluations.map(([name, one]) => scoreObject(one, name)) }),
    ...ifGiven('chunks', writeAll(document.chunks), document.chunks.length > 0),
    ...ifGiven('matches', writeAll(document.matches), document.matches.length > 0),
    contentHash: contentHash(document),
  };
}

function v1Status(status: Status | undefined): object {
  if (status?.code !== ERROR) return {};
  const { description, exception } = status;
  return {
    code: 'ERROR',
    description,
    ...(exception && { exception: { name: exception.name, args: exception.args, stacks: exception.stacks } }),
  };
}

/** Routes of version 1 always have an end time. For a skipped node, it is the start time. */
const v1Route = ({ executor, startTime, endTime = startTime, status }: Route): object => ({
  pod: executor,
  podId: executor,
  ...(startTime && { startTime: isoTimeZ(startTime) }),
  ...(endTime && { endTime: isoTimeZ(endTime) }),
  ...ifGiven('status', v1Status(status), status?.code === ERROR),
});

/** The gateway's route is both first and last. */
function v1Routes(routes: readonly Route[]): object[] {
  const [gateway] = routes;
  return [...routes, ...(gateway ? [gateway] : [])].map(v1Route);
}

/** Formats 32 hexadecimal digits as a UUID. Any other id is returned unchanged. */
export const formatUuid = (id: string): string =>
  id.replace(/^(\w{8})(\w{4})(\w{4})(\w{4})(\w{12})$/, '$1-$2-$3-$4-$5');

export interface V1Request {
  /** The request id that the client sent and expects back. Without one, the flow's id is formatted as a UUID. */
  readonly requestId?: string | undefined;
  readonly kind: V1Kind;
  readonly queryset: readonly QueryLanguage[];
  /** Ids of documents whose tags are written even if empty. */
  readonly objectIds?: ReadonlySet<string> | undefined;
}

export function v1Answer(
  { header, docs, routes }: DataRequest,
  { requestId, kind, queryset, objectIds }: V1Request,
): object {
  const body =
    kind === 'delete' ? { ids: docs.map(({ id }) => id) } : { docs: docs.map((one) => v1Document(one, objectIds)) };
  return {
    requestId: requestId ?? formatUuid(header.requestId),
    [kind]: docs.length ? body : {},
    status: v1Status(header.status),
    ...ifGiven('queryset', queryset, queryset.length > 0),
    routes: v1Routes(routes),
  };
}

export interface V1Control {
  readonly requestId: string;
  readonly command: 'STATUS' | 'RELOAD';
  readonly targets: readonly string[];
  readonly routes: readonly Route[];
}

export const v1ControlAnswer = ({ requestId, command, targets, routes }: V1Control): object => ({
  requestId,
  control: { command, propagate: true, ...ifGiven('targets', targets, targets.length > 0) },
  status: command === 'STATUS' ? { code: 'READY' } : {},
  routes: v1Routes(routes),
});
