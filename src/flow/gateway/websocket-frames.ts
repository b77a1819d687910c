/** WebSocket frames of requests and answers: JSON text or protobuf (docs/reference/wire/flow.md, WebSocket). */
import { type Problem, problem } from '#errors.ts';
import type { Flow, HandleOptions } from '../flow.ts';
import { BODY, invalidAt, readRequest, requestFrame, statusObject } from '../json/index.ts';
import { decodeRequest, encodeRequest, encodeStatus } from '../proto/request.ts';
import { createRequest, type DataRequest, ERROR, type Status, timestamp } from '../request.ts';
import { isObject } from '../values.ts';
import { parseJson } from './body.ts';
import { V1_KINDS, v1Answer, v1ControlAnswer } from './rest-v1.ts';
import { REST_V1 } from './rest-versions.ts';

/** A request read from one frame. */
export interface RequestFrame {
  readonly requestId: string;
  /** The decoded protobuf request, from which a failure answer is built. */
  readonly request?: DataRequest;
  /** Returns the frame with the answer. Throws like `Flow.handle`. */
  run(flow: Flow, options: HandleOptions): Promise<string | Uint8Array>;
}

export interface FrameCodec {
  readonly isBinary: boolean;
  isEnd(bytes: Buffer): boolean;
  /** Throws SubmittedDataMalformedError. */
  read(bytes: Buffer): RequestFrame;
  /** The frame that reports a failure. `undefined` when the bytes were not a request, which closes the connection. */
  writeFailure(failure: Problem, frame: RequestFrame | undefined, bytes: Buffer): string | Uint8Array | undefined;
  /** The answer to a dry run. */
  writeStatus(status: Status): string | Uint8Array;
}

/** Exception name in answers to invalid requests. */
const VALIDATION_ERROR = 'ValidationError';

const failureStatus = (failure: Problem): Status => ({
  code: ERROR,
  description: failure.message,
  exception: {
    name: failure.code === 422 ? VALIDATION_ERROR : failure.name,
    args: [failure.message],
    stacks: [],
    executor: '',
  },
});

const idOf = (body: Record<string, unknown>): string => {
  const header = isObject(body.header) ? body.header : {};
  const id = header.request_id ?? header.requestId ?? body.request_id ?? body.requestId;
  return typeof id === 'string' ? id : '';
};

function readJsonMessage(body: unknown): RequestFrame {
  if (!isObject(body)) throw invalidAt(BODY, 'dict');
  if (!('data' in body)) return readV1Message(body);
  const request = readRequest(body, { keepsId: true });
  return {
    requestId: request.header.requestId,
    run: async (flow, options) => requestFrame(await flow.handle(request, options)),
  };
}

/** The oldest messages are recognized by the key of their body. */
function readV1Message(body: Record<string, unknown>): RequestFrame {
  const requestId = idOf(body);
  if (isObject(body.control)) return readV1Control(body.control, requestId);
  const kind = V1_KINDS.find((one) => isObject(body[one]));
  if (!kind) throw invalidAt({ parent: BODY, key: 'data' }, 'missing');
  const { docs, ids } = body[kind] as Record<string, unknown>;
  const data = (kind === 'delete' ? ids : undefined) ?? docs ?? [];
  const reading = REST_V1.read({ ...body, data }, { endpoint: `/${kind}`, kind });
  if (requestId) reading.request.header.requestId = requestId;
  const request = { ...reading, ...(requestId && { requestId }) };
  return {
    requestId: reading.request.header.requestId,
    run: async (flow, options) => JSON.stringify(v1Answer(await flow.handle(reading.request, options), request)),
  };
}

/** WebSocket supports only the STATUS command. */
function readV1Control(control: Record<string, unknown>, requestId: string): RequestFrame {
  if (String(control.command ?? 'STATUS').toUpperCase() !== 'STATUS') {
    throw invalidAt({ parent: { parent: BODY, key: 'control' }, key: 'command' }, 'string');
  }
  return {
    requestId,
    async run(flow, { signal }) {
      const startTime = timestamp();
      const status = await flow.dryRun(signal);
      if (status.code === ERROR) throw problem('ServiceAwayError', { message: status.description });
      const routes = [{ executor: 'gateway', startTime, endTime: timestamp() }];
      return JSON.stringify(v1ControlAnswer({ requestId, command: 'STATUS', targets: [], routes }));
    },
  };
}

/** The id of an invalid request, if it had one. */
function idIn(bytes: Buffer): string {
  try {
    const body: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(body) ? idOf(body) : '';
  } catch {
    return '';
  }
}

export const JSON_TEXT: FrameCodec = {
  isBinary: false,
  isEnd: (bytes) => bytes.length <= 16 && bytes.toString('latin1').replace(/\s/g, '') === '{}',
  read: (bytes) => readJsonMessage(parseJson(bytes.toString('utf8'))),
  writeFailure: (failure, frame, bytes) =>
    JSON.stringify({
      header: { request_id: frame?.requestId ?? idIn(bytes), status: statusObject(failureStatus(failure)) },
      data: [],
    }),
  writeStatus: (status) => (status.code === ERROR ? JSON.stringify({ ...statusObject(status), code: 'ERROR' }) : '{}'),
};

/** The Python client of the original framework sends `bytes(True)`, which is one zero byte; other clients send 1. */
const END_BYTES: readonly (number | undefined)[] = [0x00, 0x01];

export const PROTOBUF_BYTES: FrameCodec = {
  isBinary: true,
  isEnd: (bytes) => bytes.length === 1 && END_BYTES.includes(bytes[0]),
  read(bytes) {
    const request = decodeRequest(bytes);
    return {
      requestId: request.header.requestId,
      request,
      run: async (flow, options) => encodeRequest(await flow.handle(request, options)),
    };
  },
  writeFailure(failure, frame) {
    if (!frame?.request) return undefined;
    const { header, parameters } = frame.request;
    const answer = createRequest({ requestId: header.requestId, parameters });
    answer.header.status = failureStatus(failure);
    return encodeRequest(answer);
  },
  writeStatus: (status) => (status.code === ERROR ? encodeStatus(status) : new Uint8Array()),
};
