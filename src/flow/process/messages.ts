/** What the frames carry: a call as facts in JSON and its requests as protobuf, and the answer in the same way. */
import { deserialize, serialize } from 'node:v8';
import type { ExecutorPlace, ExecutorSource } from '../definition.ts';
import type { ReplicaPosition } from '../executor-source.ts';
import { decodeRequestList, encodeRequestListExactly } from '../proto/request.ts';
import type { DataRequest } from '../request.ts';
import type { WorkerCall } from '../worker.ts';

/** The first frame to a process. */
export interface Init {
  readonly place: ExecutorPlace;
  readonly source: ExecutorSource;
  readonly seat: ReplicaPosition;
  readonly stacks: boolean;
  /** Level of the log; undefined when there is none. */
  readonly logLevel: string | undefined;
}

/** Options may be more than JSON: numbers without a value, dates, bytes. Throws an Error for what cannot be copied. */
export const encodeInit = (init: Init): Uint8Array => serialize(init);
export const decodeInit = (payload: Buffer): Init => deserialize(payload) as Init;

/** The process is ready to be called. */
export interface Ready {
  /** Name of the class. */
  readonly type: string;
  readonly endpoints: readonly string[];
}

/** `missing`: none of the modules has the class. */
export interface NotStarted {
  readonly message: string;
  readonly missing: boolean;
}

/** What was measured of a call, for the metrics; undefined when no handler was called. */
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

function objectIn(payload: Buffer): Record<string, unknown> {
  const value: unknown = JSON.parse(payload.toString());
  if (typeof value !== 'object' || value === null) throw new TypeError('a frame is not an object');
  return value as Record<string, unknown>;
}

export function decodeReady(payload: Buffer): Ready {
  const { type, endpoints } = objectIn(payload);
  if (!Array.isArray(endpoints)) throw new TypeError('the endpoints are not a list');
  return { type: String(type), endpoints: endpoints.map(String) };
}

export function decodeNotStarted(payload: Buffer): NotStarted {
  const { message, missing } = objectIn(payload);
  return { message: String(message), missing: missing === true };
}

const LENGTH_BYTES = 4;

function withFacts(facts: unknown, requests: readonly DataRequest[]): Uint8Array[] {
  const text = toJson(facts);
  const length = Buffer.allocUnsafe(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return [length, text, encodeRequestListExactly(requests)];
}

function parted(payload: Buffer): { facts: unknown; requests: DataRequest[] } {
  const end = LENGTH_BYTES + payload.readUInt32LE(0);
  return {
    facts: JSON.parse(payload.toString('utf8', LENGTH_BYTES, end)),
    requests: decodeRequestList(payload.subarray(end)),
  };
}

/** Throws a RangeError when documents or values are nested without end. */
export const encodeCall = ({ sources, headers, requests }: WorkerCall): Uint8Array[] =>
  withFacts({ sources, headers }, requests);

export function decodeCall(payload: Buffer): Omit<WorkerCall, 'signal'> {
  const { facts, requests } = parted(payload);
  return { ...(facts as Pick<WorkerCall, 'sources' | 'headers'>), requests };
}

export interface Answer {
  readonly request: DataRequest;
  readonly processed: Processed | undefined;
}

export const encodeAnswer = ({ request, processed }: Answer): Uint8Array[] => withFacts(processed ?? null, [request]);

/** Throws an Error when the payload is not an answer. */
export function decodeAnswer(payload: Buffer): Answer {
  const { facts, requests } = parted(payload);
  const [request] = requests;
  if (!request) throw new TypeError('an answer has no request');
  return { request, processed: facts === null ? undefined : asProcessed(facts as Record<string, unknown>) };
}

const asProcessed = ({ endpoint, asked, ms, documents, failed }: Record<string, unknown>): Processed => ({
  endpoint: String(endpoint),
  asked: String(asked),
  ms: Number(ms),
  documents: Number(documents),
  failed: failed === true,
});
