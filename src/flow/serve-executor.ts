/**
 * Serves a single executor over gRPC, for gateways on other machines (docs/reference/wire/flow.md, Executors over
 * gRPC).
 */
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import { readTraceParent } from '#telemetry/trace.ts';
import type { DeploymentDefinition } from './definition/definition.ts';
import { createHealth } from './grpc/health.ts';
import { infoMethod } from './grpc/info.ts';
import type { CallInfo, Method, Reply } from './grpc/method.ts';
import { METADATA, METHODS, SERVICES } from './grpc/names.ts';
import { reflectionMethods } from './grpc/reflection.ts';
import { createRequestMethods } from './grpc/request-methods.ts';
import { answerRequest, reportingErrors } from './grpc/requests.ts';
import { createRpcServer, type TlsFiles } from './grpc/server.ts';
import type { FlowObserver } from './observer.ts';
import { openOperation } from './operation.ts';
import { decodeRequestList, endpointsProto } from './proto/codec.ts';
import { reloadExecutorOnChange } from './reload/reload-files.ts';
import type { FileWatcher } from './reload/watch-files.ts';
import { createRequest, type DataRequest, failed } from './request.ts';
import { createDeployment, type Deployment, type DeploymentTools } from './runtime/deployment.ts';
import type { SourceTools } from './runtime/open-replicas.ts';
import { unavailableProblem } from './runtime/unavailable.ts';
import { WorkerUnavailableError } from './runtime/worker.ts';
import { statusOf } from './status.ts';
import { type AnswerFacts, rememberFacts } from './telemetry/tracing.ts';
import { isObject } from './values.ts';

export interface ServeExecutorOptions extends Partial<SourceTools> {
  readonly definition: DeploymentDefinition;
  /** Reloads the definition, for the `reload` option. */
  readonly load?: (() => DeploymentDefinition) | undefined;
  /** 0 for any free port. */
  readonly port: number;
  readonly host: string;
  /** Product version. */
  readonly version: string;
  readonly environment?: Readonly<Record<string, string | undefined>>;
  readonly tls?: TlsFiles;
  readonly maxMessageBytes?: number | undefined;
  /** Called once, after an exception listed in `exitOnExceptions` closed the executor. */
  readonly onExit?: (() => void) | undefined;
}

export interface ExecutorServer {
  readonly port: number;
  readonly url: string;
  /** Ports of the metrics; none without the `monitoring` option. */
  readonly monitoringPorts: readonly number[];
  /** Refuses new requests and waits up to `graceMs` for running ones. */
  close(graceMs?: number): Promise<void>;
}

const MAX_MESSAGE_BYTES = 64 * 2 ** 20;
const GRACE_MS = 10_000;
const PREFETCH = 1000;
/** Reconnecting makes clients resolve the host name again, so they find new replicas. */
const MAX_CONNECTION_AGE_MS = 600_000;

/** The services that gateways of the original framework know. Some of these gateways fail on any other name. */
const LISTED_SERVICES = [SERVICES.single, SERVICES.list, SERVICES.discovery, SERVICES.info, SERVICES.stream];

async function startWithTimeout(deployment: Deployment): Promise<void> {
  const { name, timeoutReadyMs } = deployment.definition;
  const started = deployment.start();
  try {
    await (timeoutReadyMs < 0 ? started : within(timeoutReadyMs, started));
  } catch (error) {
    started.then(() => deployment.close(0)).catch(() => {});
    const reason =
      error instanceof DeadlineExceededError ? `not ready after ${timeoutReadyMs} ms` : (error as Error).message;
    throw problem('FaceNotReadyError', { message: `The executor ${name} could not start: ${reason}` }, error);
  }
}

/** HTTP headers forwarded by the gateway. */
function headersOf(info: CallInfo): Record<string, string> {
  const bytes = info.bytes(METADATA.headers);
  if (!bytes) return {};
  try {
    const value: unknown = JSON.parse(bytes.toString());
    return isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, String(one)])) : {};
  } catch {
    return {};
  }
}

const sourceOf = ({ routes }: DataRequest, at: number): string => routes.at(-1)?.executor || `part-${at}`;

/** The request contains documents serialized as a Python pickle, which can run code when decoded. */
class UnsupportedContentError extends Error {
  override readonly name = 'UnsupportedContent';
}

function refuseDocsBytes(request: DataRequest): DataRequest {
  const answer = createRequest({ parameters: request.parameters });
  const status = statusOf(new UnsupportedContentError('docs_bytes is never decoded: send docs'), '', false);
  answer.header = { ...request.header, status };
  return answer;
}

/**
 * Rejects with a FaceNotReadyError when the executor cannot start, and with the library's error when the port is in
 * use.
 */
export async function serveExecutor(options: ServeExecutorOptions): Promise<ExecutorServer> {
  const { definition, host, version, environment = {}, log, tls = {}, onExit } = options;
  const { executors = {}, ownProcesses, stacks = false } = options;
  const operation = await openOperation({ ...options, gateway: undefined, deployments: [definition] });
  const facts = rememberFacts(withoutServed(operation.observe));
  const tools = { executors, ownProcesses, stacks, log, observe: facts.observe, tracing: operation.tracing };
  const deployment = createReplaceableDeployment(definition, tools);
  let hasExited = false;
  const countBytes = createByteCounter(operation.observe, facts);

  async function process(requests: readonly DataRequest[], info: CallInfo): Promise<DataRequest> {
    const pickled = requests.find(({ docsBytes }) => docsBytes);
    if (pickled) return refuseDocsBytes(pickled);
    try {
      const trace = readTraceParent(info.metadata(METADATA.traceParent));
      const answer = await deployment.current().process({
        ...{ requests, sources: requests.map(sourceOf) },
        ...{ headers: headersOf(info), signal: info.signal, trace },
      });
      const name = answer.header.status?.exception?.name;
      if (!hasExited && failed(answer) && name && definition.exitOnExceptions.includes(name)) {
        hasExited = true;
        onExit?.();
      }
      return answer;
    } catch (error) {
      throw error instanceof WorkerUnavailableError
        ? unavailableProblem(error, definition.name, deployment.current().addresses)
        : error;
    }
  }

  const onError = (error: unknown) => log?.error({ err: error });
  const handle = reportingErrors((request, info) => process([request], info), onError);
  const requests = createRequestMethods({
    handle,
    prefetch: PREFETCH,
    marksErrors: true,
    observe: { transferred: countBytes },
  });
  const health = createHealth([...LISTED_SERVICES, SERVICES.document, SERVICES.health, SERVICES.reflectionAlpha]);

  async function answerList(bytes: Buffer, info: CallInfo): Promise<Reply> {
    const parts = decodeRequestList(bytes);
    const [first] = parts;
    if (!first) throw problem('SubmittedDataMalformedError', { message: 'The request list is empty' });
    const handleList = reportingErrors((_, call) => process(parts, call), onError);
    const answered = await answerRequest(handleList, first, info);
    countBytes({ receivedBytes: bytes.length, sentBytes: answered.bytes.length }, answered.answer);
    return requests.reply(answered);
  }

  const methods: readonly Method[] = [
    ...requests.methods,
    { ...METHODS.list, kind: 'unary', run: answerList },
    { ...METHODS.discovery, kind: 'unary', run: () => ({ bytes: encodeEndpoints(deployment.current().endpoints()) }) },
    infoMethod({ version, environment }),
    ...health.methods,
    ...reflectionMethods([...LISTED_SERVICES, SERVICES.reflectionAlpha]),
  ];

  const server = createRpcServer({
    methods,
    tls,
    maxMessageBytes: options.maxMessageBytes ?? MAX_MESSAGE_BYTES,
    maxConnectionAgeMs: MAX_CONNECTION_AGE_MS,
    options: definition.grpcServerOptions,
    onError,
  });

  const close = async (graceMs: number): Promise<void> => {
    watcher?.close();
    health.stop();
    requests.stop();
    await server.close(graceMs);
    await deployment.close(graceMs);
    await operation.close();
  };
  let watcher: FileWatcher | undefined;
  let closing: Promise<void> | undefined;
  try {
    await startWithTimeout(deployment.current());
    const port = await server.listen(options.port, host);
    const monitoringPorts = await operation.listen(host);
    const current = () => deployment.current().definition;
    watcher = await reloadExecutorOnChange({ current, load: options.load, rebuild: deployment.rebuild, log });
    return {
      port,
      url: `grpc${tls.certfile ? 's' : ''}://${host.includes(':') ? `[${host}]` : host}:${port}`,
      monitoringPorts,
      close(graceMs = GRACE_MS) {
        closing ??= close(graceMs);
        return closing;
      },
    };
  } catch (error) {
    await close(0);
    throw error;
  }
}

const encodeEndpoints = (endpoints: ReadonlySet<string> | undefined): Uint8Array =>
  endpointsProto.encode({ endpoints: [...(endpoints ?? [])], writeEndpoints: [], schemas: undefined });

/** Counts the bytes of a request and its response for the executor that handled it. */
const createByteCounter =
  (observe: FlowObserver, facts: AnswerFacts) =>
  ({ receivedBytes, sentBytes }: TransferredFacts, answer: DataRequest | undefined): void => {
    const handled = answer && facts.of(answer);
    if (!handled) return;
    const { runtime, executor, asked } = handled;
    observe.served?.({ runtime, executor, asked, receivedBytes, sentBytes });
  };

/** A deployment whose definition can be replaced. The old executors serve until the new ones are ready. */
function createReplaceableDeployment(definition: DeploymentDefinition, tools: DeploymentTools) {
  let current = createDeployment(definition, tools);
  let isClosed = false;
  return {
    current: () => current,
    async close(graceMs: number): Promise<void> {
      isClosed = true;
      await current.close(graceMs);
    },
    /** Rebuilds the executors, from the changed definition if there is one. */
    async rebuild(changed: DeploymentDefinition | undefined): Promise<void> {
      if (!changed) return current.reload(GRACE_MS);
      const next = createDeployment(changed, tools);
      await startWithTimeout(next);
      if (isClosed) return next.close(0);
      const old = current;
      current = next;
      await old.close(GRACE_MS);
    },
  };
}

type TransferredFacts = Parameters<NonNullable<FlowObserver['transferred']>>[0];

/** The observer without `served`: bytes are counted where they arrive, and not again between processes. */
const withoutServed = (observe: FlowObserver): FlowObserver => ({
  ...observe,
  exchanged: undefined,
  served: undefined,
});
