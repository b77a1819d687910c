/**
 * Network limits for one page (docs/reference/wire/reader.md, Abuse limits). A page that exceeds one of them is
 * stopped.
 */
import type { Request } from 'playwright-core';
import { getDomain } from 'tldts';
import { type Problem, problem } from '#errors.ts';
import { parseAddress } from '#net/guard/ip-address.ts';

export interface PageLimits {
  readonly maxRequests: number;
  readonly maxDocuments: number;
  /** Maximum number of registrable domains. */
  readonly maxDomains: number;
  /** Maximum number of concurrent requests; further ones are queued. */
  readonly maxParallel: number;
  /** Maximum number of encoded bytes sent and received. At this limit, the page's network is cut off. */
  readonly maxBytes: number;
}

/** The documented limits; `maxBytes` (128 MiB) is an addition. */
export const PAGE_LIMITS: PageLimits = {
  maxRequests: 3_300,
  maxDocuments: 1_000,
  maxDomains: 200,
  maxParallel: 100,
  maxBytes: 134_217_728,
};

/** The reason why a page was stopped. The current caller gets the problem; later callers of the page get the reason. */
export interface DetectedAbuse {
  readonly problem: Problem;
  readonly reason: string;
}

const abuse = (message: string, reason: string): DetectedAbuse => ({
  problem: problem('SecurityCompromiseError', { path: 'url', message }),
  reason,
});

export const localRequestAbuse = (): DetectedAbuse =>
  abuse('The page sends requests to this server or its machine', 'it sent requests to the server that read it');

/** Counts the requests of a page; returns the abuse when a limit is exceeded. */
export function createRequestCounter(limits: PageLimits): (request: Request) => DetectedAbuse | undefined {
  const domains = new Set<string>();
  let requests = 0;
  let documents = 0;
  return (request) => {
    requests++;
    if (request.resourceType() === 'document') documents++;
    const domain = getDomain(request.url(), { allowPrivateDomains: true });
    if (domain) domains.add(domain);
    if (requests > limits.maxRequests) return abuse('The page makes too many requests', 'it made too many requests');
    if (documents > limits.maxDocuments)
      return abuse('The page loads too many documents', 'it loaded too many documents');
    if (domains.size > limits.maxDomains)
      return abuse('The page sends requests to too many sites', 'it sent requests to too many sites');
    return undefined;
  };
}

/** Whether a host name denotes this machine, judged only by the name, without resolving it. */
export function isLoopbackHost(host: string): boolean {
  const address = parseAddress(host);
  if (address) return ['loopback', 'unspecified'].includes(address.range());
  return /^(?:.*\.)?localhost\.?$/i.test(host);
}

export interface RequestGate {
  /** Resolves when the request may be sent, or if it ended before that. */
  enter(request: Request): Promise<void>;
  leave(request: Request): void;
}

/** Limits the number of concurrent requests; the others are queued in order. */
export function createRequestGate(maxParallel: number): RequestGate {
  const active = new Set<Request>();
  const waiting = new Map<Request, () => void>();
  return {
    async enter(request) {
      if (active.size < maxParallel) active.add(request);
      else await new Promise<void>((resolve) => waiting.set(request, resolve));
    },
    leave(request) {
      const wake = waiting.get(request);
      waiting.delete(request);
      wake?.();
      if (!active.delete(request)) return;
      const [next] = waiting;
      if (!next) return;
      waiting.delete(next[0]);
      active.add(next[0]);
      next[1]();
    },
  };
}
