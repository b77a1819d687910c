/** WebSocket frames of requests and responses: JSON text or protobuf (docs/reference/wire/flow.md, WebSocket). */
import { type Problem, problem } from '#errors.ts';
import { ownValue } from '#own-value.ts';
import type { GatewayOptions } from '../definition/definition.ts';
import type { Flow, HandleOptions } from '../flow.ts';
import { BODY, invalidAt, readRequest, requestFrame, statusObject } from '../json/index.ts';
import { oldGenerationOf } from '../proto/old-form.ts';
import { decodeRequest, encodeRequest, encodeStatus } from '../proto/request.ts';
import { createRequest, type DataRequest, ERROR, type Status, timestamp } from '../request.ts';
import { refusalStatus } from '../status.ts';
import { isObject } from '../values.ts';
import { parseJson } from './body.ts';
import { type OldCall, prefersOldForm, readOldCall } from './old-requests.ts';
import { V1_KINDS, v1Answer, v1ControlAnswer } from './rest-v1.ts';
import { readV1Body } from './rest-versions.ts';

/** A request read from one frame. */
export interface RequestFrame {
  readonly requestId: string;
  /** The generation of an old request. Requests of generation 1 run one after another. */
  readonly generation?: 1 | 2;
  /** Returns the frame with the response. Throws like `Flow.handle`. */
  run(flow: Flow, options: HandleOptions): Promise<string | Uint8Array>;
  /** The frame that reports a failure. */
  writeFailure(failure: Problem): string | Uint8Array;
}

export interface FrameCodec {
  /** Whether responses to a dry run are binary. */
  readonly isBinary: boolean;
  /** The reason why a frame of this type closes the connection; `undefined` if the frame is accepted. */
  refuse(bytes: Buffer, isBinary: boolean): string | undefined;
  isEnd(bytes: Buffer, isBinary: boolean): boolean;
  /** Throws SubmittedDataMalformedError. */
  read(bytes: Buffer, isBinary: boolean): RequestFrame;
  /** The frame that reports that the received bytes are not a request. `undefined` closes the connection. */
  writeUnreadable(failure: Problem, bytes: Buffer, isBinary: boolean): string | undefined;
  /** The response to a dry run. */
  writeStatus(status: Status): string | Uint8Array;
}

const idOf = (body: Record<string, unknown>): string => {
  const header = isObject(body.header) ? body.header : {};
  const id = header.request_id ?? header.requestId ?? body.request_id ?? body.requestId;
  return typeof id === 'string' ? id : '';
};

function readJsonMessage(body: unknown): RequestFrame {
  if (!isObject(body)) throw invalidAt(BODY, 'dict');
  if (!('data' in body)) return readV1Message(body);
  const request = readRequest(body, { keepsId: true });
  const { requestId } = request.header;
  return {
    requestId,
    run: async (flow, options) => requestFrame(await flow.handle(request, options)),
    writeFailure: (failure) => writeJsonFailure(failure, requestId),
  };
}

/** Reads one of the oldest messages, recognized by the key of its body. Its documents are parsed unchanged. */
function readV1Message(body: Record<string, unknown>): RequestFrame {
  const requestId = idOf(body);
  if (isObject(body.control)) return readV1Control(body.control, requestId);
  const kind = V1_KINDS.find((one) => isObject(body[one]));
  if (!kind) throw invalidAt({ parent: BODY, key: 'data' }, 'missing');
  const { docs, ids } = body[kind] as Record<string, unknown>;
  const data = (kind === 'delete' ? ids : undefined) ?? docs ?? [];
  const reading = readV1Body({ ...body, data }, { endpoint: `/${kind}`, kind });
  const { header } = reading.request;
  if (requestId) header.requestId = requestId;
  const request = { ...reading, ...(requestId && { requestId }) };
  return {
    requestId: header.requestId,
    generation: 1,
    run: async (flow, options) => JSON.stringify(v1Answer(await flow.handle(reading.request, options), request)),
    writeFailure: (failure) => writeJsonFailure(failure, header.requestId),
  };
}

/** WebSocket supports only the STATUS command. */
function readV1Control(control: Record<string, unknown>, requestId: string): RequestFrame {
  if (String(control.command ?? 'STATUS').toUpperCase() !== 'STATUS') {
    throw invalidAt({ parent: { parent: BODY, key: 'control' }, key: 'command' }, 'status');
  }
  return {
    requestId,
    generation: 1,
    async run(flow, { signal }) {
      const startTime = timestamp();
      const status = await flow.dryRun(signal);
      if (status.code === ERROR) throw problem('ServiceAwayError', { message: status.description });
      const routes = [{ executor: 'gateway', startTime, endTime: timestamp() }];
      return JSON.stringify(v1ControlAnswer({ requestId, command: 'STATUS', targets: [], routes }));
    },
    writeFailure: (failure) => writeJsonFailure(failure, requestId),
  };
}

/** The id of an invalid request; empty if it has none. */
function idIn(bytes: Buffer): string {
  try {
    const body: unknown = JSON.parse(bytes.toString('utf8'));
    return isObject(body) ? idOf(body) : '';
  } catch {
    return '';
  }
}

const writeJsonFailure = (failure: Problem, requestId: string): string =>
  JSON.stringify({
    header: { request_id: requestId, status: statusObject(refusalStatus(failure)) },
    data: [],
  });

const isJsonEnd = (bytes: Buffer): boolean =>
  bytes.length <= 16 && bytes.toString('latin1').replace(/\s/g, '') === '{}';

/** The Python client of the original framework sends `bytes(True)`, which is one zero byte; other clients send 1. */
const isBinaryEnd = (bytes: Buffer): boolean => bytes.length === 1 && bytes[0]! <= 1;

const BINARY_REFUSED = 'Binary frame on a text connection';

const JSON_TEXT: FrameCodec = {
  isBinary: false,
  refuse: (_, isBinary) => (isBinary ? BINARY_REFUSED : undefined),
  isEnd: isJsonEnd,
  read: (bytes) => readJsonMessage(parseJson(bytes.toString('utf8'))),
  writeUnreadable: (failure, bytes) => writeJsonFailure(failure, idIn(bytes)),
  writeStatus: (status) => (status.code === ERROR ? JSON.stringify({ ...statusObject(status), code: 'ERROR' }) : '{}'),
};

/** Clients of generations 1 and 2 do not request a subprotocol, and send text and bytes. Bytes must be old requests. */
const WITHOUT_SUBPROTOCOL: FrameCodec = {
  ...JSON_TEXT,
  refuse: (bytes, isBinary) =>
    isBinary && !isBinaryEnd(bytes) && !oldGenerationOf(bytes, true) ? BINARY_REFUSED : undefined,
  isEnd: (bytes, isBinary) => (isBinary ? isBinaryEnd(bytes) : isJsonEnd(bytes)),
  read: (bytes, isBinary) => (isBinary ? oldFrame(readOldCall(bytes, true)!) : JSON_TEXT.read(bytes, false)),
  writeUnreadable: (failure, bytes, isBinary) =>
    isBinary ? undefined : JSON_TEXT.writeUnreadable(failure, bytes, false),
};

const oldFrame = ({ requestId, generation, run, writeFailure }: OldCall): RequestFrame => ({
  requestId,
  generation,
  run: (flow, options) =>
    run({ handle: (request) => flow.handle(request, options), dryRun: () => flow.dryRun(options.signal) }),
  writeFailure: (failure) => writeFailure(refusalStatus(failure)),
});

function currentFrame(request: DataRequest): RequestFrame {
  const { header, parameters } = request;
  const { requestId } = header;
  return {
    requestId,
    run: async (flow, options) => encodeRequest(await flow.handle(request, options)),
    writeFailure(failure) {
      const answer = createRequest({ requestId, parameters });
      answer.header.status = refusalStatus(failure);
      return encodeRequest(answer);
    },
  };
}

const protobufBytes = (prefersOld: boolean): FrameCodec => ({
  isBinary: true,
  refuse: (_, isBinary) => (isBinary ? undefined : 'Text frame on a binary connection'),
  isEnd: isBinaryEnd,
  read(bytes) {
    const old = readOldCall(bytes, prefersOld);
    return old ? oldFrame(old) : currentFrame(decodeRequest(bytes));
  },
  writeUnreadable: () => undefined,
  writeStatus: (status) => (status.code === ERROR ? encodeStatus(status) : new Uint8Array()),
});

/** Returns a function that chooses the codec of a connection by its subprotocol, which is empty if none was chosen. */
export function createCodecs(options: Pick<GatewayOptions, 'restApiVersion'>): (subprotocol: string) => FrameCodec {
  const codecs: Readonly<Record<string, FrameCodec>> = {
    json: JSON_TEXT,
    bytes: protobufBytes(prefersOldForm(options)),
  };
  return (subprotocol) => ownValue(codecs, subprotocol) ?? WITHOUT_SUBPROTOCOL;
}
