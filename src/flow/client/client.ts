/**
 * A client for flow gateways over HTTP, WebSocket or gRPC.
 *
 *     const client = createFlowClient('grpc://localhost:3004');
 *     const [question] = await client.post('/search', [new Document({ text: 'when is tea?' })]);
 */
import { ownValue } from '#own-value.ts';
import type { Document } from '../document.ts';
import { createRequest, type DataRequest, failed, type Status } from '../request.ts';
import type { JsonObject } from '../values.ts';
import { openGrpcTransport } from './grpc-transport.ts';
import { openHttpTransport } from './http-transport.ts';
import type { Transport, TransportTarget } from './transport.ts';
import { openWebSocketTransport } from './websocket-transport.ts';

export interface FlowClientOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
}

export interface PostOptions {
  readonly parameters?: JsonObject;
  /** A regular expression for deployment names. */
  readonly targetExecutor?: string;
  /** Number of documents per request; 100 by default. */
  readonly requestSize?: number;
  /** Maximum number of concurrent requests; 4 by default. */
  readonly atOnce?: number;
  readonly signal?: AbortSignal;
}

export interface FlowClient {
  /**
   * Sends documents in batches and returns the documents of all responses, in the order sent. Throws FlowFailed for the
   * first failed executor, and FlowUnreachable.
   */
  post(endpoint: string, docs: readonly Document[], options?: PostOptions): Promise<Document[]>;
  /** Sends one request. A failed executor is reported in the response's header. Throws FlowUnreachable. */
  send(request: DataRequest, signal?: AbortSignal): Promise<DataRequest>;
  /** Whether all executors of the flow respond. */
  ready(signal?: AbortSignal): Promise<boolean>;
  close(): void;
}

/** An executor failed; `status` contains its error. */
export class FlowFailed extends Error {
  override readonly name = 'FlowFailed';
  readonly status: Status;

  constructor(status: Status) {
    super(status.description);
    this.status = status;
  }
}

const DEFAULT_REQUEST_SIZE = 100;
const DEFAULT_AT_ONCE = 4;

const TRANSPORTS: Readonly<
  Record<string, { tls: boolean; port: number; open: (target: TransportTarget) => Transport }>
> = {
  'http:': { tls: false, port: 80, open: openHttpTransport },
  'https:': { tls: true, port: 443, open: openHttpTransport },
  'ws:': { tls: false, port: 80, open: openWebSocketTransport },
  'wss:': { tls: true, port: 443, open: openWebSocketTransport },
  'grpc:': { tls: false, port: 80, open: openGrpcTransport },
  'grpcs:': { tls: true, port: 443, open: openGrpcTransport },
};

/**
 * Creates a client for a URL such as `http://host:port`, `ws://` or `grpc://`, or their TLS variants. Throws a
 * TypeError for any other URL.
 */
export function createFlowClient(address: string, { token }: FlowClientOptions = {}): FlowClient {
  const { protocol, hostname, port } = new URL(address);
  const kind = ownValue(TRANSPORTS, protocol);
  if (!kind || !hostname)
    throw new TypeError(`${address} is not the URL of a flow: use http, ws or grpc, with host and port`);
  const host = hostname.replace(/^\[|\]$/g, '');
  const transport = kind.open({ host, port: port ? Number(port) : kind.port, tls: kind.tls, token });

  return {
    async post(endpoint, docs, options = {}) {
      const {
        parameters,
        targetExecutor,
        requestSize = DEFAULT_REQUEST_SIZE,
        atOnce = DEFAULT_AT_ONCE,
        signal,
      } = options;
      const parts: Document[][] = [];
      for (let at = 0; at < Math.max(docs.length, 1); at += requestSize) parts.push(docs.slice(at, at + requestSize));
      const answers = new Array<Document[]>(parts.length);
      let next = 0;
      const worker = async (): Promise<void> => {
        for (let at = next++; at < parts.length; at = next++) {
          const request = createRequest({ endpoint, targetExecutor, parameters, docs: parts[at]! });
          const answer = await transport.send(request, signal);
          if (failed(answer)) throw new FlowFailed(answer.header.status!);
          answers[at] = answer.docs;
        }
      };
      await Promise.all(Array.from({ length: Math.min(atOnce, parts.length) }, worker));
      return answers.flat();
    },
    send: (request, signal) => transport.send(request, signal),
    ready: (signal) => transport.ready(signal),
    close: () => transport.close(),
  };
}
