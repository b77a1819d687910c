/** Payloads of the frames. Calls and responses are a JSON header followed by protobuf requests. */
import { deserialize, serialize } from 'node:v8';
import type { ExecutorDeployment, ExecutorSource } from '../definition/definition.ts';
import { decodeRequestList, encodeRequestListExactly } from '../proto/request.ts';
import type { DataRequest } from '../request.ts';
import type { ExecutorPosition } from '../runtime/open-executor.ts';
import type { WorkerCall } from '../runtime/worker.ts';

/** Payload of the first frame sent to a process. */
export interface Init {
  readonly deployment: ExecutorDeployment;
  readonly source: ExecutorSource;
  readonly position: ExecutorPosition;
  readonly stacks: boolean;
  /** Log level; `undefined` without a log. */
  readonly logLevel: string | undefined;
}

/**
 * Uses V8 serialization, because options may contain NaN, dates or bytes. Throws an Error for values that cannot be
 * copied.
 */
export const encodeInit = (init: Init): Uint8Array => serialize(init);
export const decodeInit = (payload: Buffer): Init => deserialize(payload) as Init;

/** The process is ready for calls. */
export interface Ready {
  /** Class name of the executor. */
  readonly type: string;
  readonly endpoints: readonly string[];
}

/** `missing`: no module exports the class. */
export interface NotStarted {
  readonly message: string;
  readonly missing: boolean;
}

/** Metrics of one call; absent when no handler ran. */
export interface Processed {
  readonly endpoint: string;
  readonly asked: string;
  readonly ms: number;
  readonly documents: number;
  readonly failed: boolean;
}

const toJson = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
export const encodeReady = (ready: Ready): Uint8Array => toJson(ready);
export const encodeNotStarted = (facts: NotStarted): Uint8Array => toJson(facts);
export const encodeText = (text: string): Uint8Array => Buffer.from(text);

function parseObject(payload: Buffer): Record<string, unknown> {
  const value: unknown = JSON.parse(payload.toString());
  if (typeof value !== 'object' || value === null) throw new TypeError('a frame is not a JSON object');
  return value as Record<string, unknown>;
}

export function decodeReady(payload: Buffer): Ready {
  const { type, endpoints } = parseObject(payload);
  if (!Array.isArray(endpoints)) throw new TypeError('the endpoints are not a list');
  return { type: String(type), endpoints: endpoints.map(String) };
}

export function decodeNotStarted(payload: Buffer): NotStarted {
  const { message, missing } = parseObject(payload);
  return { message: String(message), missing: missing === true };
}

const LENGTH_BYTES = 4;

function encodeFrame(facts: unknown, requests: readonly DataRequest[]): Uint8Array[] {
  const text = toJson(facts);
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return [length, text, encodeRequestListExactly(requests)];
}

function decodeFrame(payload: Buffer): { facts: unknown; requests: DataRequest[] } {
  const end = LENGTH_BYTES + payload.readUInt32LE(0);
  return {
    facts: JSON.parse(payload.toString('utf8', LENGTH_BYTES, end)),
    requests: decodeRequestList(payload.subarray(end)),
  };
}

/** Throws a RangeError when documents or values are nested too deeply. */
export const encodeCall = ({ sources, headers, requests }: WorkerCall): Uint8Array[] =>
  encodeFrame({ sources, headers }, requests);

export function decodeCall(payload: Buffer): Omit<WorkerCall, 'signal'> {
  const { facts, requests } = decodeFrame(payload);
  return { ...(facts as Pick<WorkerCall, 'sources' | 'headers'>), requests };
}

export interface Answer {
  readonly request: DataRequest;
  readonly processed: Processed | undefined;
}

export const encodeAnswer = ({ request, processed }: Answer): Uint8Array[] => encodeFrame(processed ?? null, [request]);

/** Throws an Error when the payload is not a response. */
export function decodeAnswer(payload: Buffer): Answer {
  const { facts, requests } = decodeFrame(payload);
  const [request] = requests;
  if (!request) throw new TypeError('an answer has no request');
  return { request, processed: facts === null ? undefined : toProcessed(facts as Record<string, unknown>) };
}

const toProcessed = ({ endpoint, asked, ms, documents, failed }: Record<string, unknown>): Processed => ({
  endpoint: String(endpoint),
  asked: String(asked),
  ms: Number(ms),
  documents: Number(documents),
  failed: failed === true,
});
