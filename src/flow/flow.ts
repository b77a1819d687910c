/** Runs a flow: starts its deployments, sends requests through them and closes them. */

import { DeadlineExceededError, unlessAborted, within } from '#concurrency/deadline.ts';
import { NEVER_ABORTED } from '#concurrency/never-aborted.ts';
import { problem } from '#errors.ts';
import { ownValue, setOwnValue } from '#own-value.ts';
import type { Log } from '#telemetry/log.ts';
import { readTraceParent } from '#telemetry/trace.ts';
import { type CompileSearch, type Condition, compileCondition } from './definition/condition.ts';
import type { FlowDefinition } from './definition/definition.ts';
import { CATCH_ALL, DRY_RUN, type ExecutorClass } from './executor.ts';
import { GATEWAY_NAME } from './metrics/measures.ts';
import type { FlowObserver } from './observer.ts';
import { createRequest, type DataRequest, failed, type Route, type Status, SUCCESS, timestamp } from './request.ts';
import { createDeployment, type Deployment } from './runtime/deployment.ts';
import { createGraph, type Graph } from './runtime/graph.ts';
import { compilePattern, compileTarget } from './runtime/pattern.ts';
import type { Connect } from './runtime/worker.ts';
import { statusOf } from './status.ts';
import { type FlowTracing, GATEWAY_SPAN, traceRequest } from './telemetry/tracing.ts';

export interface FlowTools {
  /** Connects to external deployments. */
  readonly connect?: Connect;
  /** Executors that a definition may refer to by name. */
  readonly executors?: Readonly<Record<string, ExecutorClass>>;
  /** Whether executors from modules run in their own processes, unless their `own_process` option is set. */
  readonly ownProcesses?: boolean;
  readonly log?: Log;
  readonly observe?: FlowObserver | undefined;
  readonly tracing?: FlowTracing | undefined;
  /** Whether failures include stack traces. */
  readonly stacks?: boolean;
}

export interface HandleOptions {
  /** Aborted when the client disconnects. Executors receive the same signal. */
  readonly signal?: AbortSignal;
  /** HTTP headers with lower-case names. Executors see only those listed in the definition's `headers`. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Flow {
  readonly definition: FlowDefinition;
  /** Endpoints that executors serve, in deployment order. Those of external deployments appear once they are known. */
  endpoints(): string[];
  /** Resolves when every deployment is ready. Rejects with one error that names each deployment that failed. */
  start(): Promise<void>;
  /**
   * Returns the response. The flow takes ownership of `request`. A failing executor is reported in `header.status`, not
   * thrown.
   *
   * Throws ServiceAwayError, ServiceTimeoutError or DownstreamServiceError if an executor is unreachable or too slow,
   * with `deployment` and `addresses` in its `facts`; SubmittedDataMalformedError if the target is not a valid pattern;
   * ServiceNodeResourceDrainError while the flow is closing; and the reason of an aborted signal.
   */
  handle(request: DataRequest, options?: HandleOptions): Promise<DataRequest>;
  /** Sends an empty request through the whole flow. Never throws. */
  dryRun(signal?: AbortSignal): Promise<Status>;
  /**
   * Rebuilds the executors of all matching deployments and switches to them once they are ready. Returns one route for
   * each deployment; its status contains the failure if the old executors stay in use. Throws
   * SubmittedDataMalformedError when a target is not a valid pattern.
   */
  reload(targets: readonly string[]): Promise<Route[]>;
  /** Refuses new requests and waits up to `graceMs` for running ones. */
  close(graceMs?: number): Promise<void>;
}

const DEFAULT_GRACE_MS = 10_000;

async function compileSearches(definition: FlowDefinition): Promise<CompileSearch> {
  const patterns = new Map<string, (text: string) => boolean>();
  const open: unknown[] = definition.deployments.map(({ when }) => when);
  for (let value = open.pop(); value !== undefined || open.length > 0; value = open.pop()) {
    if (typeof value !== 'object' || value === null) continue;
    open.push(...Object.values(value));
    const pattern = (value as Record<string, unknown>).$regex;
    if (typeof pattern !== 'string') continue;
    const compiled = await compilePattern(pattern).catch((error: Error) => {
      throw problem('ParamValidationError', { path: 'when', message: `$regex: ${error.message}` }, error);
    });
    patterns.set(pattern, (text) => compiled.matcher(text).find());
  }
  return (pattern) => patterns.get(pattern)!;
}

async function compileConditions(definition: FlowDefinition): Promise<ReadonlyMap<string, Condition>> {
  const search = await compileSearches(definition);
  const found = new Map<string, Condition>();
  for (const { name, when } of definition.deployments) if (when) found.set(name, compileCondition(when, search));
  return found;
}

async function startWithTimeout(deployment: Deployment): Promise<void> {
  const { timeoutReadyMs } = deployment.definition;
  const started = deployment.start();
  if (timeoutReadyMs < 0) return started;
  try {
    await within(timeoutReadyMs, started);
  } catch (error) {
    // A deployment that starts after the timeout is closed again.
    started.then(() => deployment.close(0)).catch(() => {});
    throw error instanceof DeadlineExceededError ? new Error(`not ready after ${timeoutReadyMs} ms`) : error;
  }
}

/** Starts all deployments. If any fails, closes the others and throws one error that names each that failed. */
async function startAll(deployments: readonly Deployment[]): Promise<void> {
  const opened = await Promise.allSettled(deployments.map(startWithTimeout));
  const reasons = opened.flatMap((one, at) =>
    one.status === 'rejected' ? [`${deployments[at]!.definition.name}: ${(one.reason as Error).message}`] : [],
  );
  if (reasons.length === 0) return;
  await Promise.allSettled(deployments.map((deployment) => deployment.close(0)));
  const cause = opened.find((one) => one.status === 'rejected')?.reason;
  throw problem('FaceNotReadyError', { message: `The flow could not start. ${reasons.join('; ')}` }, cause);
}

/** Selects the headers that are visible to executors. */
function visibleHeaders(
  definition: FlowDefinition,
  headers: HandleOptions['headers'],
): Readonly<Record<string, string>> {
  const shown: Record<string, string> = {};
  if (!headers) return shown;
  for (const name of definition.headers) {
    const value = ownValue(headers, name);
    if (value !== undefined) setOwnValue(shown, name, Array.isArray(value) ? value.join(', ') : value);
  }
  return shown;
}

async function reloadDeployment(deployment: Deployment, stacks: boolean): Promise<Route> {
  const route: Route = { executor: deployment.definition.name, startTime: timestamp() };
  try {
    await deployment.reload(DEFAULT_GRACE_MS);
  } catch (error) {
    route.status = statusOf(error, '', stacks);
  }
  return { ...route, endTime: timestamp() };
}

export function createFlow(definition: FlowDefinition, tools: FlowTools = {}): Flow {
  const { log, observe, tracing, stacks = false, executors = {}, ownProcesses, connect } = tools;
  const tracer = tracing?.tracerOf(GATEWAY_NAME, definition.gateway);
  const deployments = definition.deployments.map((one) =>
    createDeployment(one, { executors, ownProcesses, log, observe, tracing, stacks, connect }),
  );
  let graph: Graph | undefined;
  let closing: Promise<void> | undefined;
  let inWork = 0;
  let idle: (() => void) | undefined;

  async function start(): Promise<void> {
    for (const warning of [...definition.warnings, ...manifestWarnings(definition)]) log?.warn(warning);
    const conditions = await compileConditions(definition);
    await startAll(deployments);
    graph = createGraph({ deployments, conditions, observe, tracer });
    const unused = graph.floating.filter((name) => !definition.deployments.find((one) => one.name === name)?.floating);
    if (unused.length > 0) log?.warn(`The answers of ${unused.join(', ')} are not used`);
  }

  async function handle(
    request: DataRequest,
    { signal = NEVER_ABORTED, headers }: HandleOptions = {},
  ): Promise<DataRequest> {
    if (closing) throw problem('ServiceNodeResourceDrainError', { message: 'The flow is closing' });
    if (!graph) throw problem('FaceNotReadyError', { message: 'The flow is not ready' });
    const started = timestamp();
    if (request.docsBytes) return refuseDocsBytes(request, started);
    const from = performance.now();
    const { run } = graph;
    let answer: DataRequest | undefined;
    inWork++;
    observe?.requestStarted?.();
    try {
      const shown = visibleHeaders(definition, headers);
      const parent = tracing && readTraceParent(headers?.traceparent);
      const work = traceRequest(tracer, GATEWAY_SPAN, { kind: 'server', parent }, (trace) =>
        run(request, { signal, headers: shown, started, trace }),
      );
      answer = await (signal === NEVER_ABORTED ? work : unlessAborted(signal, work));
      return answer;
    } finally {
      observe?.requestEnded?.({ ms: performance.now() - from, failed: answer === undefined || failed(answer) });
      if (--inWork === 0) idle?.();
    }
  }

  async function dryRun(signal: AbortSignal = NEVER_ABORTED): Promise<Status> {
    try {
      const request = createRequest({ endpoint: DRY_RUN });
      const answer = await handle(request, { signal });
      await Promise.all(deployments.map((deployment) => deployment.ping(signal)));
      return answer.header.status ?? { code: SUCCESS, description: '' };
    } catch (error) {
      return statusOf(error, '', stacks);
    }
  }

  async function drain(graceMs: number): Promise<void> {
    if (inWork > 0) {
      const done = new Promise<void>((resolve) => {
        idle = resolve;
      });
      await within(graceMs, done).catch(() => log?.warn(`${inWork} requests were not answered before the flow closed`));
    }
    if (graph) await within(graceMs, graph.settled()).catch(() => {});
    const closed = await Promise.allSettled(deployments.map((deployment) => deployment.close(graceMs)));
    for (const one of closed) if (one.status === 'rejected') log?.error(one.reason, 'An executor could not be closed');
  }

  return {
    definition,
    endpoints() {
      const all = deployments.flatMap((deployment) => [...(deployment.endpoints() ?? [])]);
      return [...new Set(all)].filter((endpoint) => endpoint !== DRY_RUN && endpoint !== CATCH_ALL);
    },
    start,
    handle,
    dryRun,
    async reload(targets) {
      const tests = await Promise.all(targets.map(compileTarget));
      const chosen = deployments.filter(({ definition: { name } }) => tests.some((test) => test(name)));
      return Promise.all(chosen.map((deployment) => reloadDeployment(deployment, stacks)));
    },
    close(graceMs = DEFAULT_GRACE_MS) {
      closing ??= drain(graceMs);
      return closing;
    },
  };
}

/** Warns about options that only exported manifests use. */
function manifestWarnings({ rest, deployments }: FlowDefinition): string[] {
  const parts = [{ where: 'with', rest }, ...deployments.map(({ name, rest }) => ({ where: name, rest }))];
  return parts.flatMap(({ where, rest }) =>
    Object.keys(rest).map((option) => `${where}: the option ${option} has an effect in exported manifests only`),
  );
}

/** `docs_bytes` contains a Python pickle, which can run code when decoded. It is never decoded. */
function refuseDocsBytes(request: DataRequest, started: Route['startTime']): DataRequest {
  const description = "UnsupportedContent('docs_bytes is never decoded: send docs')";
  const args = ['docs_bytes is never decoded: send docs'];
  const status = { code: 1, description, exception: { name: 'UnsupportedContent', args, stacks: [], executor: '' } };
  const { docsBytes: _, ...rest } = request;
  return {
    ...rest,
    header: { ...request.header, status },
    routes: [...request.routes, { executor: 'gateway', startTime: started, endTime: timestamp(), status }],
    docs: [],
  };
}
