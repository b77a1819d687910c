/** A visit's session at the egress proxy: its own username, and an upstream proxy if one is set. */
import { randomUUID } from 'node:crypto';
import type { Problem } from '#errors.ts';
import type { EgressAddress } from './launch.ts';
import type { RefusalLog } from './refusals.ts';

export interface EgressSession {
  /** Credentials of the visit at the egress proxy. */
  readonly credentials: { readonly username: string; readonly password: string };
  /** Hosts refused to the visit so far. */
  refusedHosts(): ReadonlySet<string>;
  /** The reason why a server could not be reached, or what was wrong with its response. */
  failureOf(url: URL): Problem | undefined;
  /** Sets the callback for refusals. */
  onRefused(listener: (host: string) => void): void;
  /** Sets the callback for the total number of bytes transferred so far. `moved` adds bytes that bypassed the proxy. */
  onMoved(listener: (bytes: number) => void): void;
  moved(own: number): void;
  /** Blocks all further traffic. */
  cut(): void;
  /** The last failure of the upstream proxy itself. */
  proxyFailure(): Problem | undefined;
  close(): void;
}

export interface EgressSessionConfig {
  readonly egress: EgressAddress;
  readonly refusals: RefusalLog;
  readonly proxy: URL | undefined;
  readonly acceptInvalidCertificates: boolean;
}

export function openEgressSession({
  egress,
  refusals,
  proxy,
  acceptInvalidCertificates,
}: EgressSessionConfig): EgressSession {
  const username = `visit-${randomUUID()}`;
  const route = proxy && egress.route(proxy, { username, acceptInvalidCertificates });
  let refusalListener: ((host: string) => void) | undefined;
  let byteListener: ((bytes: number) => void) | undefined;
  const meter = egress.meter(username, (bytes) => byteListener?.(bytes));
  const { password, revoke } =
    'grant' in egress ? egress.grant(username) : { password: egress.password, revoke: undefined };
  const refused = refusals.watch(username, (host) => refusalListener?.(host));
  return {
    credentials: { username, password },
    refusedHosts: refused.hosts,
    failureOf: refused.failureOf,
    onRefused(listener) {
      refusalListener = listener;
    },
    onMoved(listener) {
      byteListener = listener;
    },
    moved: meter.add,
    cut: meter.block,
    proxyFailure: () => route?.failure(),
    close() {
      refused.stop();
      meter.close();
      route?.close();
      revoke?.();
    },
  };
}
