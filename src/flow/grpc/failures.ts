/** Converts failures to gRPC status codes. */
import { asProblem } from '#errors.ts';

/** The gRPC status codes used here. */
export const CODE = {
  ok: 0,
  cancelled: 1,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export interface RpcFailure {
  readonly code: number;
  readonly details: string;
}

/** gRPC codes by the HTTP code of the Problem. */
const CODES: Readonly<Record<number, number>> = {
  400: CODE.invalidArgument,
  401: CODE.unauthenticated,
  404: CODE.notFound,
  413: CODE.resourceExhausted,
  422: CODE.invalidArgument,
  503: CODE.unavailable,
  504: CODE.deadlineExceeded,
};

/** Details are sent in a header, which clients limit to a few kilobytes. */
const MAX_DETAILS_LENGTH = 1000;

export const createRpcFailure = (code: number, details: string): RpcFailure => ({
  code,
  // The round trip through bytes replaces half surrogate pairs, which cannot be sent.
  details: Buffer.from(details.slice(0, MAX_DETAILS_LENGTH)).toString(),
});

export function toRpcFailure(error: unknown): RpcFailure {
  const { code, message } = asProblem(error);
  return createRpcFailure(CODES[code] ?? CODE.internal, message);
}
