/** The way out of one visit: under a name of its own at the egress proxy, through another proxy when one is wanted. */
import { randomUUID } from 'node:crypto';
import type { Problem } from '#errors.ts';
import type { EgressAddress } from './launch.ts';
import type { RefusalLog } from './refusals.ts';

export interface EgressSession {
  /** Of the visit at the egress proxy. */
  readonly credentials: { readonly username: string; readonly password: string };
  /** The hosts that were refused to the visit so far. */
  refusedHosts(): ReadonlySet<string>;
  /** Why a server could not be reached, or what was wrong with its answer. */
  failureOf(url: URL): Problem | undefined;
  /** Has `heard` told of each refusal from now on. */
  onRefused(heard: (host: string) => void): void;
  /** Has `heard` told of the bytes moved so far, as they grow; `own` are those that did not go through the proxy. */
  onMoved(heard: (bytes: number) => void): void;
  moved(own: number): void;
  /** Lets nothing more in or out. */
  cut(): void;
  /** What last went wrong with the other proxy itself. */
  proxyFailure(): Problem | undefined;
  close(): void;
}

export interface WayOutConfig {
  readonly egress: EgressAddress;
  readonly refusals: RefusalLog;
  readonly proxy: URL | undefined;
  readonly acceptInvalidCertificates: boolean;
}

export function openWayOut({ egress, refusals, proxy, acceptInvalidCertificates }: WayOutConfig): EgressSession {
  const username = `visit-${randomUUID()}`;
  const route = proxy && egress.route(proxy, { username, acceptInvalidCertificates });
  let listener: ((host: string) => void) | undefined;
  let mover: ((bytes: number) => void) | undefined;
  const meter = egress.meter(username, (bytes) => mover?.(bytes));
  const refused = refusals.watch(username, (host) => listener?.(host));
  return {
    credentials: { username, password: egress.password },
    refusedHosts: refused.hosts,
    failureOf: refused.failureOf,
    onRefused(heard) {
      listener = heard;
    },
    onMoved(heard) {
      mover = heard;
    },
    moved: meter.add,
    cut: meter.block,
    proxyFailure: () => route?.failure(),
    close() {
      refused.stop();
      meter.close();
      route?.close();
    },
  };
}
