/** What one page may ask of the network (contract, section 15): beyond it the page is stopped. */
import type { Request } from 'playwright-core';
import { getDomain } from 'tldts';
import { type Problem, problem } from '#errors.ts';
import { parseAddress } from '#net/guard/ip-address.ts';

export interface PageLimits {
  readonly maxRequests: number;
  readonly maxDocuments: number;
  /** Registrable domains. */
  readonly maxDomains: number;
  /** Requests at a time; more wait for their turn. */
  readonly maxParallel: number;
  /** Sent and received over the network, as it is encoded; then the page has no network any more. */
  readonly maxBytes: number;
}

/** Those of the contract; the bytes are ours. */
export const PAGE_LIMITS: PageLimits = {
  maxRequests: 3_300,
  maxDocuments: 1_000,
  maxDomains: 200,
  maxParallel: 100,
  maxBytes: 134_217_728,
};

/** A page that was stopped. The message is told to the caller, the reason to those who are refused it later. */
export interface Abuse {
  readonly problem: Problem;
  readonly reason: string;
}

const abuse = (message: string, reason: string): Abuse => ({
  problem: problem('SecurityCompromiseError', { path: 'url', message }),
  reason,
});

export const localCall = (): Abuse =>
  abuse('The page calls this server or its machine', 'it called the server that read it');

/** Counts what a page asks for; gives what it went over, once. */
export function createTally(limits: PageLimits): (request: Request) => Abuse | undefined {
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
    if (domains.size > limits.maxDomains) return abuse('The page asks too many sites', 'it asked too many sites');
    return undefined;
  };
}

/** Whether a host is this machine by its very spelling. */
export function isThisMachine(host: string): boolean {
  const address = parseAddress(host);
  if (address) return ['loopback', 'unspecified'].includes(address.range());
  return /^(?:.*\.)?localhost\.?$/i.test(host);
}

export interface Gate {
  /** Resolves when it is this request's turn, or when it has ended without one. */
  enter(request: Request): Promise<void>;
  leave(request: Request): void;
}

/** Lets so many requests go at a time, the others in the order in which they came. */
export function createGate(maxParallel: number): Gate {
  const going = new Set<Request>();
  const waiting = new Map<Request, () => void>();
  return {
    async enter(request) {
      if (going.size < maxParallel) going.add(request);
      else await new Promise<void>((resolve) => waiting.set(request, resolve));
    },
    leave(request) {
      const isWaiting = waiting.get(request);
      waiting.delete(request);
      isWaiting?.();
      if (!going.delete(request)) return;
      const [next] = waiting;
      if (!next) return;
      waiting.delete(next[0]);
      going.add(next[0]);
      next[1]();
    },
  };
}
