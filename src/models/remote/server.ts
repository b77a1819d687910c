/** The common part of remote embedders and rerankers: protocol, limits and life cycle. */

import { unlessAborted } from '#concurrency/deadline.ts';
import { NEVER_ABORTED } from '#concurrency/never-aborted.ts';
import { problem } from '#errors.ts';
import { isUrl } from '#is-url.ts';
import type { Backend } from '../backend.ts';
import type { Protocol, RequestLimits } from './protocol.ts';
import { PROTOCOLS, type RemoteRuns } from './protocols.ts';
import type { TokenCounter } from './token-counts.ts';
import { createTransport, type RemoteFetch, RequestRefusedError, type Transport } from './transport.ts';

export interface RemoteLog {
  info(facts: object, message: string): void;
  warn(facts: object, message: string): void;
}

export interface RemoteTools {
  readonly fetch: RemoteFetch;
  /** Timeout of a request to the server, including retries. */
  readonly timeoutMs: number;
  readonly tokens: TokenCounter;
  readonly log: RemoteLog;
}

export interface Server {
  readonly protocol: Protocol;
  readonly transport: Transport;
  limits(): RequestLimits;
  /** Tracks work in progress, so that `unload` can wait for it. */
  during<T>(work: () => Promise<T>): Promise<T>;
  readonly backend: Backend;
}

const MAX_INFO_BYTES = 1024 * 1024;

export function createServer(id: string, runs: RemoteRuns, { fetch, timeoutMs, tokens, log }: RemoteTools): Server {
  if (!/^https?:/i.test(runs.url) || !isUrl(runs.url)) throw misconfigured(id, 'the URL of its server is not valid');
  const protocol = PROTOCOLS[runs.protocol];
  const transport = createTransport({
    url: runs.url,
    address: protocol.address,
    key: runs.key,
    fetch,
    timeoutMs,
    parallel: protocol.parallel,
    onChange(state) {
      if (state === 'open') log.warn({ model: id }, 'model server is unavailable, will probe it later');
      else log.info({ model: id }, 'model server is available again');
    },
  });
  let limits = protocol.limits;
  /** Server information, cached until the next unload. */
  let info: Promise<void> | undefined;
  let loaded = false;
  const underway = new Set<Promise<unknown>>();

  async function fetchInfo(): Promise<void> {
    await tokens.load();
    if (!protocol.info) return;
    const options = { signal: NEVER_ABORTED, maxBytes: MAX_INFO_BYTES };
    const reply = await transport.send(protocol.info.request, options).catch((error: unknown) => {
      // A gateway may have blocked the request.
      if (error instanceof RequestRefusedError) return undefined;
      throw error;
    });
    if (reply) limits = { ...protocol.limits, ...protocol.info.parse(reply) };
  }

  function loadInfo(): Promise<void> {
    info ??= fetchInfo().catch((error: unknown) => {
      info = undefined;
      throw error;
    });
    return info;
  }

  const backend: Backend = {
    fetch: loadInfo,
    async load(signal = NEVER_ABORTED) {
      await unlessAborted(signal, loadInfo());
      loaded = true;
    },
    async unload() {
      loaded = false;
      info = undefined;
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

/** A configuration error, thrown when the backend is created. */
export const misconfigured = (id: string, what: string) =>
  problem('ParamValidationError', { path: 'models', message: `The model ${id} cannot be served: ${what}` });

export const tooLong = (contextTokens: number) =>
  problem('TokenLimitExceededError', { message: `Input text exceeds the model maximum of ${contextTokens} tokens` });

/** Adds the properties of the backend without evaluating its getters. */
export const withBackend = <Part extends object>(backend: Backend, part: Part): Part & Backend =>
  Object.defineProperties(part, Object.getOwnPropertyDescriptors(backend)) as Part & Backend;
