/**
 * Writes responses of REST version 2: camelCase with defaults, integer status codes (docs/reference/wire/flow.md,
 * Generations).
 */
import type { Document, Score, Scores } from '../document.ts';
import { base64Of, isoTimeZ } from '../json/index.ts';
import { type DataRequest, ERROR, type Route, type Status } from '../request.ts';
import { arrayObject } from './rest-v1.ts';

/** The error code of version 2. Success is 0 in every version. */
const V2_ERROR = 3;

const scoreObject = ({ value, opName = '', description = '', refId = '' }: Score) => ({
  value,
  opName,
  description,
  refId,
  operands: [],
});

const scoresObject = (scores: Scores) =>
  Object.fromEntries(Object.entries(scores).map(([name, score]) => [name, scoreObject(score)]));

export function v2Document(document: Document): object {
  const { blob, tensor, embedding, text, tags } = document;
  return {
    id: document.id,
    granularity: document.granularity,
    adjacency: document.adjacency,
    parentId: document.parentId,
    ...(text && { text }),
    ...(blob?.length && { buffer: base64Of(blob) }),
    ...(tensor && { blob: arrayObject(tensor) }),
    mimeType: document.mimeType,
    weight: document.weight,
    uri: document.uri,
    modality: document.modality,
    offset: Math.trunc(document.offset),
    location: document.location.map(Math.trunc),
    ...(embedding && { embedding: arrayObject(embedding) }),
    ...(Object.keys(tags).length && { tags }),
    scores: scoresObject(document.scores),
    evaluations: scoresObject(document.evaluations),
    chunks: document.chunks.map(v2Document),
    matches: document.matches.map(v2Document),
  };
}

const v2Status = (status: Status | undefined) => ({
  code: status?.code === ERROR ? V2_ERROR : 0,
  description: status?.description ?? '',
  exception: status?.exception
    ? {
        name: status.exception.name,
        args: status.exception.args,
        stacks: status.exception.stacks,
        executor: status.exception.executor,
      }
    : null,
});

const v2Route = ({ executor, startTime, endTime, status }: Route) => ({
  pod: executor,
  podId: executor,
  startTime: startTime ? isoTimeZ(startTime) : null,
  endTime: endTime ? isoTimeZ(endTime) : null,
  status: status ? v2Status(status) : null,
});

const dataObject = ({ docs }: DataRequest) => ({ docs: docs.map(v2Document), groundtruths: [] });

/** The response of index, search, update and delete: only the documents. */
export const v2DocumentsAnswer = (answer: DataRequest): string =>
  JSON.stringify({ requestId: answer.header.requestId, data: dataObject(answer) });

/** The response of /post: the whole message. */
export const v2MessageAnswer = (answer: DataRequest): string =>
  JSON.stringify({
    requestId: answer.header.requestId,
    data: dataObject(answer),
    header: {
      execEndpoint: answer.header.execEndpoint ?? '',
      targetPeapod: answer.header.targetExecutor ?? '',
      noPropagate: false,
    },
    parameters: answer.parameters,
    routes: answer.routes.map(v2Route),
    status: v2Status(answer.header.status),
  });
