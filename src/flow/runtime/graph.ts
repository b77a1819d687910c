/**
 * Runs requests through the graph of deployments: branches in parallel, joins in the order of `needs`
 * (docs/reference/wire/flow.md, Graph).
 */

import type { TraceParent } from '#telemetry/trace.ts';
import type { Condition } from '../definition/condition.ts';
import { CATCH_ALL, DRY_RUN } from '../executor.ts';
import type { FlowObserver } from '../observer.ts';
import { cloneRequest, type DataRequest, failed, type Route, timestamp } from '../request.ts';
import { CALL_SPAN, type FlowTracer, traceRequest } from '../telemetry/tracing.ts';
import { copyValue, isObject, type JsonObject } from '../values.ts';
import type { Deployment } from './deployment.ts';
import { haveTargets, parametersFor, RESULTS } from './parameters.ts';
import { compileTarget, type NameTest } from './pattern.ts';
import { reduceRequests } from './reduce.ts';
import { createTopology, type Input } from './topology.ts';
import { unavailableProblem } from './unavailable.ts';
import { WorkerUnavailableError } from './worker.ts';

interface Node {
  readonly deployment: Deployment;
  readonly name: string;
  /** Index of the deployment. */
  readonly at: number;
  readonly inputs: readonly Input[];
  readonly condition: Condition | undefined;
  /** Whether the results of the deployment are unused. */
  readonly floating: boolean;
}

export interface Graph {
  /** Names of the deployments whose results are not used. */
  readonly floating: readonly string[];
  run(request: DataRequest, how: RunOptions): Promise<DataRequest>;
  /** Resolves when no floating deployment is still working. */
  settled(): Promise<void>;
}

export interface RunOptions {
  readonly signal: AbortSignal;
  readonly headers: Readonly<Record<string, string>>;
  readonly started: Route['startTime'];
  /** The span of the request at the gateway. */
  readonly trace: TraceParent | undefined;
}

export interface GraphOptions {
  readonly deployments: readonly Deployment[];
  readonly conditions: ReadonlyMap<string, Condition>;
  readonly observe?: FlowObserver | undefined;
  readonly tracer?: FlowTracer | undefined;
}

/** The output of a deployment: one copy of the request for each consumer. */
interface Stage {
  readonly copies: readonly DataRequest[];
  /** The last executor that handled the request. */
  readonly source: string;
}

/** The state of one request while it passes through the graph. */
interface Run extends RunOptions {
  readonly input: DataRequest;
  readonly parameters: JsonObject;
  /** Whether some parameters are for a single deployment. */
  readonly hasTargeted: boolean;
  /** Whether the request is for a deployment; `undefined`: for all. */
  readonly matchesTarget: NameTest | undefined;
  readonly start: Stage;
  // By deployment index:
  readonly stages: (Promise<Stage> | undefined)[];
  readonly routes: (Route | undefined)[];
  readonly results: (JsonObject | undefined)[];
}

const GATEWAY = 'gateway';

export function createGraph({ deployments, conditions, observe, tracer }: GraphOptions): Graph {
  const { last, inputs, consumers, startConsumers, awaited, order } = createTopology(
    deployments.map(({ definition }) => definition),
  );
  const names = new Set(deployments.map(({ definition }) => definition.name));
  const nodes: Node[] = deployments.map((deployment, at) => ({
    deployment,
    name: deployment.definition.name,
    at,
    inputs: inputs[at]!,
    condition: conditions.get(deployment.definition.name),
    floating: !awaited.has(at),
  }));
  const floating = nodes.filter((node) => node.floating);
  const detached = new Set<Promise<unknown>>();

  function runNode(run: Run, at: number): Promise<Stage> {
    run.stages[at] ??= processNode(run, nodes[at]!);
    return run.stages[at];
  }

  /** Most executors have a single input; skip Promise.all for those. */
  async function inputStages(run: Run, { inputs }: Node): Promise<Stage[]> {
    const [only] = inputs;
    if (inputs.length === 1) return [only!.from < 0 ? run.start : await runNode(run, only!.from)];
    return Promise.all(inputs.map(({ from }) => (from < 0 ? run.start : runNode(run, from))));
  }

  async function processNode(run: Run, node: Node): Promise<Stage> {
    const before = await inputStages(run, node);
    const parts = before.map(({ copies }, at) => copies[node.inputs[at]!.copy]!);
    const failure = parts.findIndex(failed);
    if (failure >= 0) return createStage(parts[failure]!, before[failure]!.source, consumers[node.at]!);
    const sources = before.map(({ source }) => source);
    const route: Route = { executor: node.name, startTime: timestamp() };
    run.routes[node.at] = route;
    if (!isTargeted(run, node)) return createStage(reduceRequests(parts), sources[0]!, consumers[node.at]!);
    const answer = await send(run, node, { parts, sources }, { observe, tracer });
    route.endTime = timestamp();
    if (!node.floating) route.status = answer.header.status;
    const results = answer.parameters[RESULTS];
    if (isObject(results)) run.results[node.at] = results as JsonObject;
    return createStage(answer, node.name, consumers[node.at]!);
  }

  function runFloating(run: Run): void {
    for (const { at } of floating) {
      const work = runNode(run, at).catch(() => {});
      detached.add(work);
      work.then(() => detached.delete(work));
    }
  }

  return {
    floating: floating.map(({ name }) => name),
    async run(request, { signal, headers, started, trace }) {
      const { targetExecutor } = request.header;
      const { parameters } = request;
      // Executors may change this copy. The response is built from the original request.
      const first = {
        header: request.header,
        parameters,
        routes: [],
        docs: request.docs,
        unknown: request.unknown,
      } satisfies DataRequest as DataRequest;
      const run: Run = {
        signal,
        headers,
        started,
        trace,
        input: request,
        parameters,
        hasTargeted: haveTargets(parameters, names),
        matchesTarget: targetExecutor ? await compileTarget(targetExecutor) : undefined,
        start: createStage(first, GATEWAY, startConsumers),
        stages: [],
        routes: [],
        results: [],
      };
      const position = conditions.size > 0 ? new Map(request.docs.map(({ id }, at) => [id, at])) : undefined;
      const answered = last >= 0 ? runNode(run, last) : run.start;
      runFloating(run);
      const { copies } = await answered;
      const answer = createAnswer(run, copies.at(-1)!, order);
      if (position) restoreOrder(answer, position);
      return answer;
    },
    async settled() {
      await Promise.all(detached);
    },
  };
}

/** Copies the request, one for each consumer. */
function createStage(request: DataRequest, source: string, count: number): Stage {
  const copies = [request];
  for (let at = 1; at < count; at++) copies.unshift(cloneRequest(request));
  return { copies, source };
}

/** Sends a request to a deployment. Throws a problem if the deployment is unavailable. */
async function send(
  run: Run,
  node: Node,
  { parts, sources }: { readonly parts: DataRequest[]; readonly sources: readonly string[] },
  { observe, tracer }: Pick<GraphOptions, 'observe' | 'tracer'>,
): Promise<DataRequest> {
  const { deployment, condition, name } = node;
  const filtered = parts.map((part) => filterDocuments(part, condition));
  const requests = deployment.definition.reduce ? [reduceRequests(filtered)] : filtered;
  for (const part of requests) {
    part.parameters = run.hasTargeted ? parametersFor(run.parameters, name) : copyValue(run.parameters);
    if (RESULTS in part.parameters) delete part.parameters[RESULTS];
    // The status of one executor is not passed to the next.
    part.header = { ...run.input.header, status: undefined, targetExecutor: undefined };
  }
  const started = performance.now();
  let answer: DataRequest | undefined;
  try {
    const { headers, signal } = run;
    answer = await traceRequest(tracer, CALL_SPAN, { kind: 'client', parent: run.trace }, (trace) =>
      deployment.process({ requests, sources, headers, signal, trace }),
    );
    return answer;
  } catch (error) {
    throw error instanceof WorkerUnavailableError ? unavailableProblem(error, name, deployment.addresses) : error;
  } finally {
    observe?.sent?.({
      deployment: name,
      ms: performance.now() - started,
      failed: answer === undefined || failed(answer),
    });
  }
}

/** Builds the response from the output of the last deployment and the routes and results of all deployments. */
function createAnswer(run: Run, answer: DataRequest, order: readonly number[]): DataRequest {
  const { input } = run;
  const routes: Route[] = [...input.routes, { executor: GATEWAY, startTime: run.started, endTime: timestamp() }];
  let results: JsonObject | undefined;
  for (const at of order) {
    const route = run.routes[at];
    if (route) routes.push(route);
    if (run.results[at]) results = { ...results, ...run.results[at] };
  }
  if (results) {
    const given = input.parameters[RESULTS];
    results = { ...(isObject(given) ? (given as JsonObject) : {}), ...results };
  }
  return {
    ...input,
    header: { ...input.header, status: answer.header.status, targetExecutor: undefined },
    parameters: results ? { ...run.parameters, [RESULTS]: results } : run.parameters,
    routes,
    docs: answer.docs,
  };
}

/** Restores the order that the documents have in the request; new documents follow. */
function restoreOrder(answer: DataRequest, position: ReadonlyMap<string, number>): void {
  const known = answer.docs.filter(({ id }) => position.has(id));
  const fresh = answer.docs.filter(({ id }) => !position.has(id));
  answer.docs = [...known.sort((a, b) => position.get(a.id)! - position.get(b.id)!), ...fresh];
}

const filterDocuments = (request: DataRequest, condition: Condition | undefined): DataRequest =>
  condition ? { ...request, docs: request.docs.filter(condition) } : request;

function isTargeted({ matchesTarget, input }: Run, { deployment, name }: Node): boolean {
  if (matchesTarget && !matchesTarget(name)) return false;
  const endpoints = deployment.endpoints();
  const endpoint = input.header.execEndpoint ?? '';
  return !endpoints || endpoint === DRY_RUN || endpoints.has(endpoint) || endpoints.has(CATCH_ALL);
}
