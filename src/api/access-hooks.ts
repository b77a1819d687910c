/**
 * Access control for routes: a hook that admits or refuses each request, and ends the admission when the request ends.
 */
import type { FastifyReply, FastifyRequest, onRequestAsyncHookHandler, onSendHookHandler } from 'fastify';
import type {
  AccessControl,
  AccessRule,
  Admission,
  Caller,
  Credentials,
  LimitState,
  LimitStates,
} from '#accounts/index.ts';
import { problem } from '#errors.ts';
import { clientIpOf } from '#http/client-ip.ts';
import { WINDOW_MS } from '#storage/counters/counters.ts';

/** The rate-limit headers of an API: one set for everything, or separate sets for requests and tokens (model host). */
export type LimitHeaders = 'plain' | 'by kind';

export interface AccessHooks {
  /** Creates a hook for a route. It admits or refuses a request before the body is read. */
  hook(rule: AccessRule, headers: LimitHeaders): onRequestAsyncHookHandler;
  /** A hook for the whole server: journals the cost of a response before the response is sent. */
  readonly beforeResponse: onSendHookHandler;
  /** Admits or refuses a request as `hook` does, with a key that was not sent as `Authorization`. */
  admit(request: FastifyRequest, reply: FastifyReply, given: GivenAdmission): Promise<void>;
  /** Returns the admission of a request. The request's route must have the hook. */
  admissionOf(request: FastifyRequest): Admission;
  /**
   * Keeps the admission of a request open beyond its response, for work that continues. The caller of this function
   * must call the returned function, with the status of the work, exactly once.
   */
  keepOpen(request: FastifyRequest): (status: number) => void;
  /**
   * Identifies the caller without counting the request. For endpoints that call other endpoints, where the requests are
   * counted.
   */
  identify(rule: AccessRule, request: FastifyRequest): Promise<Caller>;
  /** When the key of an admitted request was checked, in milliseconds of `performance.now()`. */
  keyCheckOf(request: FastifyRequest): KeyCheck | undefined;
}

export interface GivenAdmission {
  readonly rule: AccessRule;
  readonly headers: LimitHeaders;
  /** The caller's key; `undefined` for a caller without one. */
  readonly key: string | undefined;
}

export interface KeyCheck {
  readonly fromMs: number;
  readonly toMs: number;
}

interface Admitted extends KeyCheck {
  readonly admission: Admission;
  end(status: number): void;
  isKeptOpen: boolean;
}

/** Status for a client that disconnected before the response was complete (nginx's convention). */
const CLIENT_GONE = 499;

export interface AccessHooksOptions {
  /** Called with the cost of a response once it has been sent. */
  readonly onTokensSpent?: ((endpoint: AccessRule['endpoint'], tokens: number) => void) | undefined;
}

export function createAccessHooks(
  accessControl: AccessControl,
  { onTokensSpent }: AccessHooksOptions = {},
): AccessHooks {
  const admissions = new WeakMap<FastifyRequest, Admitted>();
  async function admit(
    request: FastifyRequest,
    reply: FastifyReply,
    { rule, headers, credentials }: Omit<GivenAdmission, 'key'> & { readonly credentials: Credentials },
  ): Promise<void> {
    const fromMs = performance.now();
    const given = await accessControl.admit(rule, credentials, (states) => showLimits(reply, states, headers));
    let spent = 0;
    const admission: Admission = {
      ...given,
      recordCost(cost) {
        spent = cost.tokens;
        given.recordCost(cost);
      },
    };
    const end = (status: number) => {
      admission.end(status);
      if (spent) onTokensSpent?.(rule.endpoint, spent);
    };
    const admitted = { admission, fromMs, toMs: performance.now(), end, isKeptOpen: false };
    admissions.set(request, admitted);
    const leave = () => {
      if (!admitted.isKeptOpen) end(reply.raw.writableFinished ? reply.statusCode : CLIENT_GONE);
    };
    if (reply.raw.destroyed) leave();
    else reply.raw.once('close', leave);
  }

  function knownOf(request: FastifyRequest): Admitted {
    const known = admissions.get(request);
    if (!known) throw problem('InternalError', {}, new Error('the route has no access hook'));
    return known;
  }

  return {
    hook: (rule, headers) => (request, reply) =>
      admit(request, reply, { rule, headers, credentials: credentialsOf(request) }),
    beforeResponse(request, reply, _, done) {
      const known = admissions.get(request);
      // Work that continues beyond its response is charged when it ends.
      if (!known || known.isKeptOpen) done();
      else known.admission.beforeResponse(reply.statusCode, done);
    },
    admit: (request, reply, { rule, headers, key }) => {
      const authorization = key === undefined ? [] : [`Bearer ${key}`];
      return admit(request, reply, { rule, headers, credentials: { authorization, clientIp: clientIpOf(request) } });
    },
    keepOpen(request) {
      const known = knownOf(request);
      known.isKeptOpen = true;
      return known.end;
    },
    identify: (rule, request) => accessControl.identifyCaller(rule, credentialsOf(request)),
    admissionOf: (request) => knownOf(request).admission,
    keyCheckOf: (request) => admissions.get(request),
  };
}

const credentialsOf = (request: FastifyRequest) => ({
  authorization: authorizationOf(request),
  clientIp: clientIpOf(request),
});

/** Reads the raw headers, because Node keeps only the first of several Authorization headers. */
function authorizationOf({ raw: { rawHeaders } }: FastifyRequest): string[] {
  const found: string[] = [];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    if (rawHeaders[at]!.length === 13 && rawHeaders[at]!.toLowerCase() === 'authorization') {
      found.push(rawHeaders[at + 1]!);
    }
  }
  return found;
}

function showLimits(reply: FastifyReply, { requests, tokens }: LimitStates, headers: LimitHeaders): void {
  const isByKind = headers === 'by kind';
  if (requests) {
    write(reply, requests, isByKind ? '-requests' : '');
    writeStandard(reply, requests);
  }
  if (tokens && isByKind) write(reply, tokens, '-tokens');
}

const WINDOW_S = WINDOW_MS / 1000;

/** An amount counts for up to one slot longer than the window, which is not worth another second. */
const resetSecondsOf = ({ resetMs }: LimitState): number => Math.min(Math.ceil(resetMs / 1000), WINDOW_S);

function write(reply: FastifyReply, state: LimitState, kind: string): void {
  reply.header(`x-ratelimit-limit${kind}`, state.limit);
  reply.header(`x-ratelimit-remaining${kind}`, state.remaining);
  reply.header(`x-ratelimit-reset${kind}`, resetSecondsOf(state));
}

/**
 * The standard form of the request limit (draft-ietf-httpapi-ratelimit-headers-11, sections 3 and 4). Tokens have no
 * quota unit in the draft's registry, so their limit is only in the headers of this server.
 */
function writeStandard(reply: FastifyReply, state: LimitState): void {
  reply.header('ratelimit-policy', `"requests";q=${state.limit};w=${WINDOW_S}`);
  reply.header('ratelimit', `"requests";r=${Math.max(0, state.remaining)};t=${resetSecondsOf(state)}`);
}
