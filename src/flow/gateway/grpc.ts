/**
 * The gRPC gateway: single and streamed requests, dry runs, status, health and reflection (docs/reference/wire/flow.md,
 * gRPC).
 */
import type { Log } from '#telemetry/log.ts';
import type { GatewayOptions } from '../definition/definition.ts';
import { CATCH_ALL, DRY_RUN } from '../executor.ts';
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
import { encodeStatus, endpointsProto } from '../proto/codec.ts';
import { ERROR } from '../request.ts';
import { prefersOldForm } from './old-requests.ts';
import { createRunningRequests, DRAINING } from './running-requests.ts';
import { createTokenCheck } from './token.ts';

export interface GrpcGatewayTools {
  readonly flow: Flow;
  /** By default, the options of the flow's definition. */
  readonly options?: GatewayOptions;
  /** Product version. */
  readonly version: string;
  readonly log?: Log | undefined;
  /** Environment variables for `_status`, which shows only a fixed list of them. */
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly limits?: Partial<StreamLimits>;
  /** Receives the sizes of requests and responses. */
  readonly observe?: FlowObserver | undefined;
}

export interface GrpcGateway {
  readonly protocol: 'GRPC';
  /** Opens the port; 0 for any free port. Rejects with the gRPC library's error if the port is in use. */
  listen(port: number, host: string): Promise<{ readonly port: number; readonly url: string }>;
  /**
   * Refuses new requests with UNAVAILABLE and reports NOT_SERVING. Resolves when all running requests have been
   * answered, after `graceMs` at the latest. The port stays open.
   */
  drain(graceMs?: number): Promise<void>;
  /** Drains and closes the port and all connections, after `graceMs` at the latest. */
  close(graceMs?: number): Promise<void>;
}

const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
const GRACE_MS = 10_000;
/**
 * A gateway of the original framework may use this gateway as an executor. It requests the list of services by
 * reflection, builds a stub for each name except reflection `v1alpha` (and, from 3.9 on, the dry run), and crashes on a
 * name that it does not know. All versions from 3.9 on know the services listed here; only newer ones know the dry run,
 * and only the newest `stream_doc`. Services that are not listed are served too.
 */
const LISTED_SERVICES = [SERVICES.stream, SERVICES.single, SERVICES.discovery, SERVICES.info, SERVICES.reflectionAlpha];
const SERVED_SERVICES = [...LISTED_SERVICES, SERVICES.document, SERVICES.dryRun, SERVICES.health, SERVICES.reflection];

export function createGrpcGateway(tools: GrpcGatewayTools): GrpcGateway {
  const { flow, version, log, limits, observe, environment = {} } = tools;
  const options = tools.options ?? flow.definition.gateway;
  const onError = (error: unknown) => log?.error({ err: error });
  const running = createRunningRequests();
  const handle: Handle = async (request, info) => {
    const end = running.begin();
    try {
      return await flow.handle(request, { signal: info.signal, headers: info.headers() });
    } finally {
      end();
    }
  };
  const requests = createRequestMethods({
    handle: withTimeout(reportingErrors(handle, onError), options.requestTimeoutMs),
    prefetch: options.prefetch,
    // A gateway that uses this gateway as an executor checks for the error mark.
    marksErrors: true,
    oldForms: { prefersOld: prefersOldForm(options), dryRun: (signal) => flow.dryRun(signal) },
    limits,
    observe,
  });
  const health = createHealth(SERVED_SERVICES);
  const isAllowed = createTokenCheck(options.token);

  const debugMethods: readonly Method[] = [
    {
      ...METHODS.dryRun,
      kind: 'unary',
      run: async (_, { signal }) => ({
        bytes: encodeStatus(running.isDraining() ? { code: ERROR, description: DRAINING } : await flow.dryRun(signal)),
      }),
    },
    infoMethod({ version, environment }),
    {
      ...METHODS.discovery,
      kind: 'unary',
      // The catch-all is listed because requests to other endpoints pass through the flow too.
      run: () => ({
        bytes: endpointsProto.encode({
          endpoints: [...flow.endpoints(), CATCH_ALL, DRY_RUN],
          writeEndpoints: [],
          schemas: undefined,
        }),
      }),
    },
  ];

  const server = createRpcServer({
    methods: [...requests.methods, ...debugMethods, ...health.methods, ...reflectionMethods(LISTED_SERVICES)],
    tls: { certfile: options.sslCertfile, keyfile: options.sslKeyfile },
    maxMessageBytes: options.maxBodyBytes ?? MAX_MESSAGE_BYTES,
    options: options.grpcServerOptions,
    isAllowed: (authorization) => isAllowed({ headers: { authorization } }),
    onError,
  });

  let draining: Promise<void> | undefined;

  const gateway: GrpcGateway = {
    protocol: 'GRPC',
    async listen(port, host) {
      const opened = await server.listen(port, host);
      const name = host.includes(':') ? `[${host}]` : host;
      return { port: opened, url: `grpc${options.sslCertfile ? 's' : ''}://${name}:${opened}` };
    },
    drain(graceMs = GRACE_MS) {
      if (!draining) {
        health.stop();
        requests.stop();
        draining = running.drain(graceMs);
      }
      return draining;
    },
    async close(graceMs = GRACE_MS) {
      const until = performance.now() + graceMs;
      await gateway.drain(graceMs);
      await server.close(Math.max(0, until - performance.now()));
    },
  };
  return gateway;
}
