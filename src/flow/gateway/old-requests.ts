/**
 * Runs old requests that arrive as bytes, over WebSocket and gRPC, and responds in their own format
 * (docs/reference/wire/flow.md, Old messages).
 */
import { problem } from '#errors.ts';
import type { GatewayOptions } from '../definition/definition.ts';
import { BODY, invalidAt } from '../json/index.ts';
import { oldGenerationOf } from '../proto/old-form.ts';
import { decodeOldRequest, encodeOldAnswer, type OldRequest, STATUS_COMMAND } from '../proto/old-request.ts';
import { createRequest, type DataRequest, ERROR, type Status, timestamp } from '../request.ts';
import type { JsonObject } from '../values.ts';

/** The functions of the flow that old requests use. */
export interface OldRequestTools {
  /** Throws like `Flow.handle`. */
  handle(request: DataRequest): Promise<DataRequest>;
  dryRun(): Promise<Status>;
}

/** An old request and the way to respond to it. */
export interface OldCall {
  readonly requestId: string;
  readonly generation: 1 | 2;
  /** Throws like `Flow.handle`. */
  run(tools: OldRequestTools): Promise<Uint8Array>;
  /** Encodes a response that reports a failure. */
  writeFailure(status: Status): Uint8Array;
}

/** Whether ambiguous messages count as old ones. The flow's `rest_api_version` option decides. */
export const prefersOldForm = ({ restApiVersion }: Pick<GatewayOptions, 'restApiVersion'>): boolean =>
  restApiVersion !== '3';

/** Returns `undefined` if the bytes are not an old request. Throws SubmittedDataMalformedError for an invalid one. */
export function readOldCall(bytes: Uint8Array, prefersOld: boolean): OldCall | undefined {
  const generation = oldGenerationOf(bytes, prefersOld);
  if (!generation) return undefined;
  const old = decodeOldRequest(bytes, generation);
  if (!old.kind) throw problem('SubmittedDataMalformedError', { message: 'The RequestProto has no body' });
  return {
    requestId: old.requestId,
    generation,
    run: (tools) => (old.kind === 'control' ? runControl(old, tools) : runData(old, tools)),
    writeFailure(status) {
      const answer = createRequest({ requestId: old.requestId });
      answer.header.status = status;
      return encodeOldAnswer(old, answer);
    },
  };
}

async function runData(old: OldRequest, { handle }: OldRequestTools): Promise<Uint8Array> {
  return encodeOldAnswer(old, await handle(toDataRequest(old)));
}

/** The flow may change the documents, so the request is built once. */
function toDataRequest(old: OldRequest): DataRequest {
  const { requestId, generation, kind, docs, execEndpoint, targetExecutor, parameters, queryset } = old;
  const request = createRequest({
    requestId,
    endpoint: generation === 1 ? `/${kind}` : execEndpoint || '/',
    parameters: {
      ...(queryset.length > 0 && { queryset: queryset.map((one): JsonObject => ({ ...one })) }),
      ...parameters,
    },
  });
  request.header.targetExecutor = targetExecutor || undefined;
  request.docs = docs;
  return request;
}

/** Runs a control request. Clients can run only the STATUS command, as over HTTP. */
async function runControl(old: OldRequest, { dryRun }: OldRequestTools): Promise<Uint8Array> {
  if (old.command !== STATUS_COMMAND) {
    throw invalidAt({ parent: { parent: BODY, key: 'control' }, key: 'command' }, 'status');
  }
  const startTime = timestamp();
  const status = await dryRun();
  if (status.code === ERROR) throw problem('ServiceAwayError', { message: status.description });
  const answer = createRequest({ requestId: old.requestId });
  answer.routes = [{ executor: 'gateway', startTime, endTime: timestamp() }];
  return encodeOldAnswer(old, answer);
}
