/**
 * The gRPC gateway: single and streamed requests, dry runs, status, health and reflection (docs/reference/wire/flow.md,
 * gRPC).
 */
import type { Log } from '#telemetry/log.ts';
import type { GatewayOptions } from '../definition/definition.ts';
import type { Flow } from '../flow.ts';
import { createHealth } from '../grpc/health.ts';
import { infoMethod } from '../grpc/info.ts';
import type { Method } from '../grpc/method.ts';
import { METHODS, SERVICES } from '../grpc/names.ts';
import { reflectionMethods } from '../grpc/reflection.ts';
import { createRequestMethods } from '../grpc/request-methods.ts';
import { type Handle, reportingErrors, withTimeout } from '../grpc/requests.ts';
import { createRpcServer } from '../grpc/server.ts';
import type { StreamLimits } from '../grpc/stream.ts';
import type { FlowObserver } from '../observer.ts';
import { encodeStatus } from '../proto/codec.ts';
import { createTokenCheck } from './token.ts';

export interface GrpcGatewayTools {
  readonly flow: Flow;
  /** Options of the flow's definition by default. */
  readonly options?: GatewayOptions;
  /** Product version. */
  readonly version: string;
  readonly log?: Log | undefined;
  /** Environment for `_status`, which shows only a fixed list of variables. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<StreamLimits>;
  /** Receives the sizes of requests and answers. */
  readonly observe?: FlowObserver | undefined;
}

export interface GrpcGateway {
  readonly protocol: 'GRPC';
  /** Opens the port; 0 for any free port. Rejects with the library's error when it is in use. */
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  /** Refuses new requests, waits up to `graceMs` for running ones, then closes all connections. */
  close(graceMs?: number): Promise<void>;
}

const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
const GRACE_MS = 10_000;
const LISTED_SERVICES = [
  SERVICES.stream,
  SERVICES.single,
  SERVICES.document,
  SERVICES.dryRun,
  SERVICES.info,
  SERVICES.health,
  SERVICES.reflectionAlpha,
  SERVICES.reflection,
];

export function createGrpcGateway(tools: GrpcGatewayTools): GrpcGateway {
  const { flow, version, log, limits, observe, environment = {} } = tools;
  const options = tools.options ?? flow.definition.gateway;
  const onError = (error: unknown) => log?.error({ err: error });
  const handle: Handle = (request, info) => flow.handle(request, { signal: info.signal, headers: info.headers() });
  const requests = createRequestMethods({
    handle: withTimeout(reportingErrors(handle, onError), options.requestTimeoutMs),
    prefetch: options.prefetch,
    limits,
    observe,
  });
  const health = createHealth(LISTED_SERVICES);
  const isAllowed = createTokenCheck(options.token);

  const debugMethods: readonly Method[] = [
    {
      ...METHODS.dryRun,
      kind: 'unary',
      run: async (_, { signal }) => ({ bytes: encodeStatus(await flow.dryRun(signal)) }),
    },
    infoMethod({ version, environment }),
  ];

  const server = createRpcServer({
    methods: [...requests.methods, ...debugMethods, ...health.methods, ...reflectionMethods(LISTED_SERVICES)],
    tls: { certfile: options.sslCertfile, keyfile: options.sslKeyfile },
    maxMessageBytes: options.maxBodyBytes ?? MAX_MESSAGE_BYTES,
    options: options.grpcServerOptions,
    isAllowed: (authorization) => isAllowed({ headers: { authorization } }),
    onError,
  });

  return {
    protocol: 'GRPC',
    async listen(port, host) {
      const opened = await server.listen(port, host);
      const name = host.includes(':') ? `[${host}]` : host;
      return { port: opened, url: `grpc${options.sslCertfile ? 's' : ''}://${name}:${opened}` };
    },
    async close(graceMs = GRACE_MS) {
      health.stop();
      requests.stop();
      await server.close(graceMs);
    },
  };
}
