/** A deployment is one node of a flow: its replicas and shards, and the executors before and after them. */
import { within } from '#concurrency/deadline.ts';
import { ownValue } from '#own-value.ts';
import type { DeploymentDefinition, ExecutorSource, Polling } from '../definition/definition.ts';
import { cloneRequest, type DataRequest, failed } from '../request.ts';
import type { ExecutorPosition } from './open-executor.ts';
import { openReplicas, type SourceTools } from './open-replicas.ts';
import { reduceRequests } from './reduce.ts';
import { createReplicas, type Replicas } from './replicas.ts';
import type { Connect, Worker, WorkerCall } from './worker.ts';

export interface DeploymentTools extends SourceTools {
  readonly connect?: Connect | undefined;
}

export interface Deployment {
  readonly definition: DeploymentDefinition;
  readonly addresses: readonly string[];
  /** `undefined` until they are known. */
  endpoints(): ReadonlySet<string> | undefined;
  start(): Promise<void>;
  process(call: WorkerCall): Promise<DataRequest>;
  ping(signal: AbortSignal): Promise<void>;
  /** Replaces all executors. Running calls finish on the old ones. */
  reload(graceMs: number): Promise<void>;
  close(graceMs: number): Promise<void>;
}

/** The executors of a deployment that were opened together. Reloading replaces the generation. */
interface Generation {
  readonly shards: readonly Replicas[];
  readonly before: Replicas | undefined;
  readonly after: Replicas | undefined;
  /** Requests that are passing between two executors of this generation. */
  readonly inWork: Set<Promise<unknown>>;
}

type OpenedReplicas = Omit<Generation, 'inWork'>;

const NO_REPLICAS: OpenedReplicas = { shards: [], before: undefined, after: undefined };
const EMPTY_GENERATION: Generation = { ...NO_REPLICAS, inWork: new Set() };

/** /search goes to all shards by default, because indexed documents are spread over them. */
export function pollingOf(polling: Readonly<Record<string, Polling>>, endpoint: string): Polling {
  return (
    ownValue(polling, endpoint) ??
    (endpoint === '/search' ? 'ALL' : endpoint === '/index' ? 'ANY' : (polling['*'] ?? 'ANY'))
  );
}

async function openGeneration(
  definition: DeploymentDefinition,
  tools: DeploymentTools,
  version: number,
  signal: AbortSignal,
): Promise<OpenedReplicas> {
  const opened: Worker[] = [];
  const { timeoutSendMs, retries, retryTimeouts } = definition;
  const replicasOf = (workers: readonly Worker[]) => createReplicas({ workers, timeoutSendMs, retries, retryTimeouts });

  async function open(source: ExecutorSource, positions: readonly ExecutorPosition[]): Promise<Replicas> {
    const started = await openReplicas(definition, source, positions, tools, { version, signal });
    const workers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    opened.push(...workers);
    const failure = started.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
    return replicasOf(workers);
  }

  try {
    if (definition.external) return { ...NO_REPLICAS, shards: [replicasOf(connectExternal(definition, tools))] };
    const shards: Replicas[] = [];
    for (let shard = 0; shard < definition.shards; shard++) {
      shards.push(await open(definition.source, positionsOf(definition, shard)));
    }
    const sidePosition = (kind: string): ExecutorPosition[] => [
      { name: `${definition.name}/${kind}`, shardId: -1, replica: 0 },
    ];
    const { before, after } = definition;
    return {
      shards,
      before: before && (await open(before, sidePosition('uses-before'))),
      after: after && (await open(after, sidePosition('uses-after'))),
    };
  } catch (error) {
    await Promise.allSettled(opened.map((worker) => worker.close()));
    throw error;
  }
}

function positionsOf({ name, shards, replicas }: DeploymentDefinition, shard: number): ExecutorPosition[] {
  const prefix = shards > 1 ? `${name}/shard-${shard}` : name;
  return Array.from({ length: replicas }, (_, replica) => ({
    name: `${prefix}/rep-${replica}`,
    shardId: shards > 1 ? shard : -1,
    replica,
  }));
}

function connectExternal(definition: DeploymentDefinition, { connect, observe }: DeploymentTools): Worker[] {
  if (!connect) throw new Error('external executors are not available here');
  const { name: deployment, tls, grpcMetadata: metadata, compression, grpcChannelOptions: options } = definition;
  return definition.external!.map(({ host, port }) =>
    connect({ deployment, host, port, tls, metadata, compression, options }, observe),
  );
}

const allReplicas = ({ shards, before, after }: OpenedReplicas): Replicas[] =>
  [before, ...shards, after].filter((one) => one !== undefined);

export function createDeployment(definition: DeploymentDefinition, tools: DeploymentTools): Deployment {
  let generation = EMPTY_GENERATION;
  let version = 0;
  let nextShard = 0;
  let reloaded: Promise<void> = Promise.resolve();
  let isClosed = false;
  const closed = new AbortController();

  async function reload(graceMs: number): Promise<void> {
    const fresh = {
      ...(await openGeneration(definition, tools, ++version, closed.signal)),
      inWork: new Set<Promise<unknown>>(),
    };
    // If the deployment was closed in the meantime, close the new executors.
    const old = isClosed ? fresh : generation;
    if (!isClosed) generation = fresh;
    await closeGeneration(old, graceMs);
  }

  async function sendToShards({ shards }: Generation, call: WorkerCall): Promise<DataRequest[]> {
    if (pollingOf(definition.polling, call.requests[0]?.header.execEndpoint ?? '') === 'ANY') {
      const shard = shards[nextShard++ % shards.length]!;
      return [await shard.process(call)];
    }
    const copies = shards.map((_, at) => (at === 0 ? call : { ...call, requests: call.requests.map(cloneRequest) }));
    return Promise.all(shards.map((shard, at) => shard.process(copies[at]!)));
  }

  async function processSharded(current: Generation, call: WorkerCall): Promise<DataRequest> {
    let shardCall = call;
    if (current.before) {
      const prepared = await current.before.process(call);
      if (failed(prepared)) return prepared;
      shardCall = { ...call, requests: [prepared] };
    }
    const parts = await sendToShards(current, shardCall);
    const failure = parts.find(failed);
    if (failure) return failure;
    if (!current.after) return definition.reduce ? reduceRequests(parts) : concatenate(parts);
    const sources = parts.map((_, at) => `${definition.name}/shard-${at}`);
    return current.after.process({ ...call, requests: parts, sources });
  }

  return {
    definition,
    get addresses() {
      return allReplicas(generation).flatMap(({ addresses }) => addresses);
    },
    endpoints: () => generation.shards[0]?.endpoints(),
    async start() {
      generation = { ...(await openGeneration(definition, tools, version, closed.signal)), inWork: new Set() };
    },
    async process(call) {
      const current = generation;
      if (current.shards.length === 1) return current.shards[0]!.process(call);
      const work = processSharded(current, call);
      current.inWork.add(work);
      try {
        return await work;
      } finally {
        current.inWork.delete(work);
      }
    },
    async ping(signal) {
      await Promise.all(allReplicas(generation).map((replicas) => replicas.ping(signal)));
    },
    reload(graceMs) {
      // Reload one at a time: of two concurrent generations, one would never be closed.
      const next = reloaded.then(() => reload(graceMs));
      reloaded = next.catch(() => {});
      return next;
    },
    async close(graceMs) {
      isClosed = true;
      // Abort executors that are still starting.
      closed.abort();
      const old = generation;
      generation = EMPTY_GENERATION;
      await closeGeneration(old, graceMs);
    },
  };
}

const concatenate = (parts: readonly DataRequest[]): DataRequest => ({
  ...reduceRequests(parts),
  docs: parts.flatMap(({ docs }) => docs),
});

/** Waits for `inWork` before closing, because neither executor knows of a request that is passing between them. */
async function closeGeneration(generation: Generation, graceMs: number): Promise<void> {
  if (generation.inWork.size > 0) await within(graceMs, Promise.allSettled(generation.inWork)).catch(() => {});
  const closed = await Promise.allSettled(allReplicas(generation).map((replicas) => replicas.close(graceMs)));
  const failure = closed.find((one) => one.status === 'rejected');
  if (failure) throw failure.reason;
}
