/** Reads a page without a proxy first, and then through a proxy of the operator if the first result is too poor. */
import { Problem } from '#errors.ts';
import type { BlockedKind } from '../blocked/blocked.ts';
import type { Renderer } from '../renderer.ts';
import { isHtml, type Snapshot } from '../snapshot.ts';
import type { CaptureRequest } from './capture-request.ts';

/** Status codes that do not depend on the client, even if the page is short. */
const INDEPENDENT_STATUSES: ReadonlySet<number> = new Set([201, 202, 404, 405]);
const POOR_TOKENS = 42;

/** Errors of pages that could not be read, as opposed to refused pages. */
const isFailedRead = (error: unknown) => error instanceof Problem && error.name === 'AssertionFailureError';

export interface ProxyFallbackParts {
  readonly capture: (request: CaptureRequest) => AsyncGenerator<Snapshot>;
  readonly renderer: Pick<Renderer, 'probe'>;
  /** Picks a proxy; `undefined` if there is none. */
  readonly pickProxy: () => URL | undefined;
}

export async function* captureWithFallback(
  request: CaptureRequest,
  parts: ProxyFallbackParts,
): AsyncGenerator<Snapshot> {
  let held: Snapshot | undefined;
  let failure: unknown;
  try {
    for await (const snapshot of parts.capture(request)) {
      if (held) yield held;
      held = snapshot;
    }
  } catch (error) {
    request.signal.throwIfAborted();
    if (!isFailedRead(error)) throw error;
    failure = error;
  }
  const isGood = failure === undefined && held !== undefined && !(await isPoor(held, request, parts));
  const proxy = isGood ? undefined : parts.pickProxy();
  if (!proxy) {
    if (failure !== undefined) throw failure;
    if (held) yield held;
    return;
  }
  if (held) yield { ...held, settled: false };
  yield* retryThroughProxy({ ...request, proxy }, parts, { held, failure });
}

async function* retryThroughProxy(
  request: CaptureRequest,
  parts: ProxyFallbackParts,
  { held, failure }: { readonly held: Snapshot | undefined; readonly failure: unknown },
): AsyncGenerator<Snapshot> {
  let last: Snapshot | undefined;
  try {
    for await (const snapshot of parts.capture(request)) {
      last = held ? { ...snapshot, tried: [...triedBy(held), 'proxy'] } : snapshot;
      yield last;
    }
  } catch (error) {
    request.signal.throwIfAborted();
    if (!held) throw failure ?? error;
  }
  if (held && (!last || (await isPoor(last, request, parts)))) yield { ...held, tried: [...triedBy(held), 'proxy'] };
}

const triedBy = ({ tried, engine }: Snapshot): readonly string[] => tried ?? [engine];

/** Kinds that may depend on the IP address of the client. */
const BY_CLIENT: ReadonlySet<BlockedKind> = new Set<BlockedKind>([
  'challenge',
  'denied',
  'rate-limit',
  'geo',
  'login',
  'js-shell',
  'server-error',
  'maintenance',
]);

/** Whether a proxy might get more of a page (docs/reference/wire/reader.md, Engines). */
async function isPoor(
  snapshot: Snapshot,
  { signal }: CaptureRequest,
  { renderer }: ProxyFallbackParts,
): Promise<boolean> {
  if (snapshot.blocked) return BY_CLIENT.has(snapshot.blocked.kind);
  if (INDEPENDENT_STATUSES.has(snapshot.status)) return false;
  if (snapshot.status !== 200) return true;
  if (!isHtml(snapshot)) return false;
  const { tokens } = await renderer.probe(snapshot.text, snapshot.url, signal);
  return tokens < POOR_TOKENS;
}
