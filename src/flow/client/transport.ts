/** The connection of a client to a gateway. Implemented for HTTP, WebSocket and gRPC. */
import type { DataRequest } from '../request.ts';

export interface Transport {
  /**
   * Returns the response; a failed executor is reported in its header. Rejects with a FlowUnreachable if there is no
   * response, or if the response does not come from a gateway.
   */
  send(request: DataRequest, signal: AbortSignal | undefined): Promise<DataRequest>;
  /** Whether all executors of the flow respond. */
  ready(signal: AbortSignal | undefined): Promise<boolean>;
  close(): void;
}

export interface TransportTarget {
  readonly host: string;
  readonly port: number;
  readonly tls: boolean;
  /** Sent as `Authorization: Bearer`. */
  readonly token: string | undefined;
}

export class FlowUnreachable extends Error {
  override readonly name = 'FlowUnreachable';
}

export const unreachable = (message: string, cause?: unknown): FlowUnreachable =>
  new FlowUnreachable(message, cause === undefined ? undefined : { cause });

export const authorizationOf = ({ token }: TransportTarget): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

export const hostAndPort = ({ host, port }: TransportTarget): string =>
  `${host.includes(':') ? `[${host}]` : host}:${port}`;
