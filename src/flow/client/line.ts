/** The way from a client to a gateway: one contract for HTTP, WebSocket and gRPC. */
import type { DataRequest } from '../request.ts';

export interface Line {
  /**
   * The answer to a request; a failed executor is data in its header. Rejects with a FlowUnreachable when there is no
   * answer, or one that is none of a gateway's.
   */
  send(request: DataRequest, signal: AbortSignal | undefined): Promise<DataRequest>;
  /** Whether the whole flow answers. */
  ready(signal: AbortSignal | undefined): Promise<boolean>;
  close(): void;
}

export interface LineTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Sent as `Authorization: Bearer`. */
  readonly token: string | undefined;
}

export class FlowUnreachableError extends Error {
  override readonly name = 'FlowUnreachable';
}

export const unreachable = (message: string, cause?: unknown): FlowUnreachableError =>
  new FlowUnreachableError(message, cause === undefined ? undefined : { cause });

export const authorizationOf = ({ token }: LineTarget): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

export const addressOf = ({ host, port }: LineTarget): string => `${host.includes(':') ? `[${host}]` : host}:${port}`;
