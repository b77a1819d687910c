/** What the embedder and the reranker of a server elsewhere have in common: its protocol, its limits, their life. */
import { unlessAborted } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import type { Backend } from '../backends/backend.ts';
import type { TokenCounter } from './estimate.ts';
import type { Protocol, RequestLimits } from './protocol.ts';
import { PROTOCOLS, type RemoteRuns } from './protocols.ts';
import { createTransport, type RemoteFetch, RequestRefusedError, type Transport } from './transport.ts';

export interface RemoteLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface RemoteTools {
  readonly fetch: RemoteFetch;
  /** Of a request to the server with all its tries. */
  readonly timeoutMs: number;
  readonly tokens: TokenCounter;
  readonly log: RemoteLog;
}

export interface Server {
  readonly protocol: Protocol;
  readonly transport: Transport;
  limits(): RequestLimits;
  /** What is under way is waited for by `unload`. */
  during<T>(work: () => Promise<T>): Promise<T>;
  readonly backend: Backend;
}

const MAX_INFO_BYTES = 1024 * 1024;

export function createServer(id: string, runs: RemoteRuns, { fetch, timeoutMs, tokens, log }: RemoteTools): Server {
  if (!/^https?:/i.test(runs.url) || !URL.canParse(runs.url))
    throw misconfigured(id, 'its server has no valid address');
  const protocol = PROTOCOLS[runs.protocol];
  const transport = createTransport({
    url: runs.url,
    address: protocol.address,
    key: runs.key,
    fetch,
    timeoutMs,
    parallel: protocol.parallel,
    onChange(state) {
      if (state === 'open') log.warn({ model: id }, 'the server of a model is away; it is asked again in a while');
      else log.info({ model: id }, 'the server of a model answers again');
    },
  });
  let limits = protocol.limits;
  /** What it told of itself holds until the next unload. */
  let met: Promise<void> | undefined;
  let loaded = false;
  const underway = new Set<Promise<unknown>>();

  async function bringUp(): Promise<void> {
    await tokens.load();
    if (!protocol.info) return;
    const options = { signal: NEVER, maxBytes: MAX_INFO_BYTES };
    const told = await transport.send(protocol.info.request, options).catch((error: unknown) => {
      // A gateway in front may not let it through.
      if (error instanceof RequestRefusedError) return undefined;
      throw error;
    });
    if (told) limits = { ...protocol.limits, ...protocol.info.parse(told) };
  }

  function meet(): Promise<void> {
    met ??= bringUp().catch((error: unknown) => {
      met = undefined;
      throw error;
    });
    return met;
  }

  const backend: Backend = {
    fetch: meet,
    async load(signal = NEVER) {
      await unlessAborted(signal, meet());
      loaded = true;
    },
    async unload() {
      loaded = false;
      met = undefined;
      await Promise.allSettled(underway);
    },
    get loaded() {
      return loaded;
    },
    memoryBytes: 0,
    parallel: protocol.parallel,
    get batch() {
      return limits;
    },
    async close() {
      loaded = false;
      transport.close();
      await Promise.allSettled(underway);
    },
  };

  return {
    protocol,
    transport,
    limits: () => limits,
    async during(work) {
      const promise = work();
      underway.add(promise);
      try {
        return await promise;
      } finally {
        underway.delete(promise);
      }
    },
    backend,
  };
}

const NEVER = new AbortController().signal;

/** A mistake in the configuration, told when the model is made. */
export const misconfigured = (id: string, what: string) =>
  problem('ParamValidationError', { path: 'models', message: `The model ${id} cannot be served: ${what}` });

export const tooLong = (contextTokens: number) =>
  problem('TokenLimitExceededError', { message: `Input text exceeds the model maximum of ${contextTokens} tokens` });

/** The backend's part with what a kind of model adds to it; what changes with time stays alive. */
export const withBackend = <Part extends object>(backend: Backend, part: Part): Part & Backend =>
  Object.defineProperties(part, Object.getOwnPropertyDescriptors(backend)) as Part & Backend;
