/** A deployment is one node of a flow: its replicas and shards, and the executors before and after them. */
import { within } from '#concurrency/deadline.ts';
import { own } from '#own.ts';
import type { DeploymentDefinition, ExecutorSource, Polling } from '../definition/definition.ts';
import { cloneRequest, type DataRequest, failed } from '../request.ts';
import type { ReplicaPosition } from './open-executor.ts';
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

/** All executors of a deployment that were opened together. Reloading replaces the generation. */
interface Generation {
  readonly shards: readonly Replicas[];
  readonly before: Replicas | undefined;
  readonly after: Replicas | undefined;
  /** Requests between two executors of this generation. */
  readonly inWork: Set<Promise<unknown>>;
}

type Parts = Omit<Generation, 'inWork'>;

const NO_PARTS: Parts = { shards: [], before: undefined, after: undefined };
const NONE: Generation = { ...NO_PARTS, inWork: new Set() };

/** /search goes to all shards by default, because indexed documents are spread over them. */
export function pollingOf(polling: Readonly<Record<string, Polling>>, endpoint: string): Polling {
  return (
    own(polling, endpoint) ?? (endpoint === '/search' ? 'ALL' : endpoint === '/index' ? 'ANY' : (polling['*'] ?? 'ANY'))
  );
}

async function openAll(
  definition: DeploymentDefinition,
  tools: DeploymentTools,
  version: number,
  signal: AbortSignal,
): Promise<Parts> {
  const opened: Worker[] = [];
  const { timeoutSendMs, retries, retryTimeouts } = definition;
  const replicasOf = (workers: readonly Worker[]) => createReplicas({ workers, timeoutSendMs, retries, retryTimeouts });

  async function open(source: ExecutorSource, seats: readonly ReplicaPosition[]): Promise<Replicas> {
    const started = await openReplicas(definition, source, seats, tools, { version, signal });
    const workers = started.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : []));
    opened.push(...workers);
    const failure = started.find((one) => one.status === 'rejected');
    if (failure) throw failure.reason;
    return replicasOf(workers);
  }

  try {
    if (definition.external) return { ...NO_PARTS, shards: [replicasOf(connectAll(definition, tools.connect))] };
    const shards: Replicas[] = [];
    for (let shard = 0; shard < definition.shards; shard++) {
      shards.push(await open(definition.source, seatsOf(definition, shard)));
    }
    const side = (kind: string): ReplicaPosition[] => [{ name: `${definition.name}/${kind}`, shardId: -1, replica: 0 }];
    const { before, after } = definition;
    return {
      shards,
      before: before && (await open(before, side('uses-before'))),
      after: after && (await open(after, side('uses-after'))),
    };
  } catch (error) {
    await Promise.allSettled(opened.map((worker) => worker.close()));
    throw error;
  }
}

function seatsOf({ name, shards, replicas }: DeploymentDefinition, shard: number): ReplicaPosition[] {
  const prefix = shards > 1 ? `${name}/shard-${shard}` : name;
  return Array.from({ length: replicas }, (_, replica) => ({
    name: `${prefix}/rep-${replica}`,
    shardId: shards > 1 ? shard : -1,
    replica,
  }));
}

function connectAll(definition: DeploymentDefinition, connect: Connect | undefined): Worker[] {
  if (!connect) throw new Error('external executors are not available here');
  const { name: deployment, tls, grpcMetadata: metadata, compression } = definition;
  return definition.external!.map(({ host, port }) => connect({ deployment, host, port, tls, metadata, compression }));
}

const everyone = ({ shards, before, after }: Parts): Replicas[] =>
  [before, ...shards, after].filter((one) => one !== undefined);

export function createDeployment(definition: DeploymentDefinition, tools: DeploymentTools): Deployment {
  let generation = NONE;
  let version = 0;
  let turn = 0;
  let reloaded: Promise<void> = Promise.resolve();
  let isClosed = false;
  const ended = new AbortController();

  async function reload(graceMs: number): Promise<void> {
    const fresh = {
      ...(await openAll(definition, tools, ++version, ended.signal)),
      inWork: new Set<Promise<unknown>>(),
    };
    // If the deployment was closed meanwhile, close the new executors.
    const old = isClosed ? fresh : generation;
    if (!isClosed) generation = fresh;
    await closeAll(old, graceMs);
  }

  async function askShards({ shards }: Generation, call: WorkerCall): Promise<DataRequest[]> {
    if (pollingOf(definition.polling, call.requests[0]?.header.execEndpoint ?? '') === 'ANY') {
      const shard = shards[turn++ % shards.length]!;
      return [await shard.process(call)];
    }
    const copies = shards.map((_, at) => (at === 0 ? call : { ...call, requests: call.requests.map(cloneRequest) }));
    return Promise.all(shards.map((shard, at) => shard.process(copies[at]!)));
  }

  async function throughShards(current: Generation, call: WorkerCall): Promise<DataRequest> {
    let given = call;
    if (current.before) {
      const prepared = await current.before.process(call);
      if (failed(prepared)) return prepared;
      given = { ...call, requests: [prepared] };
    }
    const parts = await askShards(current, given);
    const failure = parts.find(failed);
    if (failure) return failure;
    if (!current.after) return definition.reduce ? reduceRequests(parts) : concatenate(parts);
    const sources = parts.map((_, at) => `${definition.name}/shard-${at}`);
    return current.after.process({ ...call, requests: parts, sources });
  }

  return {
    definition,
    get addresses() {
      return everyone(generation).flatMap(({ addresses }) => addresses);
    },
    endpoints: () => generation.shards[0]?.endpoints(),
    async start() {
      generation = { ...(await openAll(definition, tools, version, ended.signal)), inWork: new Set() };
    },
    async process(call) {
      const current = generation;
      if (current.shards.length === 1) return current.shards[0]!.process(call);
      const work = throughShards(current, call);
      current.inWork.add(work);
      try {
        return await work;
      } finally {
        current.inWork.delete(work);
      }
    },
    async ping(signal) {
      await Promise.all(everyone(generation).map((replicas) => replicas.ping(signal)));
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
      ended.abort();
      const old = generation;
      generation = NONE;
      await closeAll(old, graceMs);
    },
  };
}

const concatenate = (parts: readonly DataRequest[]): DataRequest => ({
  ...reduceRequests(parts),
  docs: parts.flatMap(({ docs }) => docs),
});

/** A request moving from one executor to the next is in none of them, so wait for `inWork` before closing. */
async function closeAll(generation: Generation, graceMs: number): Promise<void> {
  if (generation.inWork.size > 0) await within(graceMs, Promise.allSettled(generation.inWork)).catch(() => {});
  const closed = await Promise.allSettled(everyone(generation).map((replicas) => replicas.close(graceMs)));
  const failure = closed.find((one) => one.status === 'rejected');
  if (failure) throw failure.reason;
}
