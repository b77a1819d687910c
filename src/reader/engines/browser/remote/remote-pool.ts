/**
 * Pages in browsers on other machines. A page is opened in the connected browser with the fewest open pages. A browser
 * that cannot be connected, is not confined to the egress proxy, or is lost is left out and tried again after a growing
 * pause. Reads beyond the maximum number of pages wait in a bounded queue.
 */
import { lookup } from 'node:dns/promises';
import { unlessAborted } from '#concurrency/deadline.ts';
import type { RemoteEgress } from '#net/proxy/egress-proxy.ts';
import type { EgressAddress } from '../launch.ts';
import type { DroppedMessage } from '../messages.ts';
import { browserUnavailable, PageSlots } from '../page-slots.ts';
import type { Lease, PagePool, PoolStatus } from '../pool.ts';
import type { RemoteAddress } from './address.ts';
import { connectRemote, type RemoteBrowser, RemoteBrowserError } from './connect.ts';
import { proveConfinement } from './proof.ts';

export interface RemotePoolConfig {
  readonly addresses: readonly RemoteAddress[];
  /** Sent to each browser as a bearer token. */
  readonly token: string | undefined;
  readonly egress: EgressAddress & Pick<RemoteEgress, 'grant'>;
  /** Maximum number of open pages in each browser. */
  readonly maxPages: number;
  /** Maximum number of reads that wait for a page. */
  readonly maxWaiting: number;
  readonly maxWaitMs?: number;
  /** Called with the IP addresses of the browsers, which pages must never reach. */
  readonly onAddress?: (address: string, port: number) => void;
  readonly log?: (message: string, facts: Record<string, unknown>) => void;
}

/** Pauses before a browser is tried again. */
const BACKOFF_MS = [250, 1_000, 2_000, 5_000, 10_000, 30_000];
/** A connection that lasted for a shorter time counts as a failure. */
const STABLE_MS = 10_000;

interface Live extends RemoteBrowser {
  readonly since: number;
  /** Number of open pages. */
  open: number;
}

/** One configured browser. */
interface Member {
  readonly address: RemoteAddress;
  live: Live | undefined;
  connecting: Promise<Live> | undefined;
  failures: number;
  retryAt: number;
  retry: NodeJS.Timeout | undefined;
  /** Why it is not used; `undefined` while it is connected or has not been tried. */
  reason: string | undefined;
}

export interface RemotePool extends PagePool {
  /** Waits until each browser was tried. */
  warm(): Promise<PoolStatus>;
}

class Browsers implements RemotePool {
  readonly #config: RemotePoolConfig;
  readonly #members: readonly Member[];
  readonly #slots: PageSlots;
  #closed = false;
  #opened = 0;
  #connections = 0;
  #lost = 0;

  constructor(config: RemotePoolConfig) {
    this.#config = config;
    const unused = { live: undefined, connecting: undefined, retry: undefined, reason: undefined };
    this.#members = config.addresses.map((address) => ({ address, ...unused, failures: 0, retryAt: 0 }));
    const { maxPages, maxWaiting, maxWaitMs } = config;
    this.#slots = new PageSlots({
      // Reads wait in the queue while no browser is known to work; the first one also tries to connect.
      maxPages: () => maxPages * Math.max(this.#connected().length, 1),
      maxWaiting,
      maxWaitMs,
    });
    for (const member of this.#members) void this.#connect(member).catch(() => {});
  }

  status(): PoolStatus {
    const connected = this.#connected();
    return {
      version: connected[0]?.live?.version,
      sandboxed: undefined,
      pid: undefined,
      pages: this.#slots.open,
      waiting: this.#slots.waiting,
      healthy: connected.length > 0,
      opened: this.#opened,
      launches: this.#connections,
      crashes: this.#lost,
      remote: { configured: this.#members.length, connected: connected.length },
    };
  }

  async warm(): Promise<PoolStatus> {
    await Promise.allSettled(this.#members.map(({ connecting }) => connecting));
    return this.status();
  }

  async lease(signal: AbortSignal, waitMs?: number): Promise<Lease> {
    await this.#slots.acquire(signal, waitMs);
    let member: Member;
    try {
      if (!this.#connected().length) await unlessAborted(signal, this.#connectAny());
      member = this.#leastLoaded();
    } catch (error) {
      this.#slots.release();
      throw error;
    }
    // In the same turn as the choice, so that simultaneous reads are spread.
    const live = member.live!;
    live.open++;
    this.#opened++;
    let released = false;
    return {
      browser: live.browser,
      chromiumMajor: Number.parseInt(live.version, 10),
      egress: this.#config.egress,
      hasOurLanguage: false,
      discard: () => {
        if (member.live === live) this.#leave(member, live, 'it opens no pages');
      },
      release: () => {
        if (released) return;
        released = true;
        live.open--;
        this.#slots.release();
        if (member.live !== live && live.open === 0) void disconnect(live);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#slots.close();
    for (const { retry } of this.#members) clearTimeout(retry);
    await Promise.allSettled(this.#members.map(({ connecting }) => connecting));
    await Promise.all(this.#members.map(({ live }) => live && disconnect(live)));
  }

  #connected(): Member[] {
    return this.#members.filter(({ live }) => live?.browser.isConnected());
  }

  /** The connected browser with the fewest open pages. */
  #leastLoaded(): Member {
    const [first, ...rest] = this.#connected();
    if (!first) throw browserUnavailable('No browser is available');
    return rest.reduce((least, member) => (member.live!.open < least.live!.open ? member : least), first);
  }

  async #connectAny(): Promise<void> {
    try {
      await Promise.any(this.#members.map((member) => this.#connect(member)));
    } catch {
      const next = Math.min(...this.#members.map(({ retryAt }) => retryAt)) - performance.now();
      throw browserUnavailable('No browser is available', { retryAfter: Math.max(Math.ceil(next / 1_000), 1) });
    }
  }

  /** Connects, unless a pause is running. */
  #connect(member: Member): Promise<Live> {
    if (this.#closed) return Promise.reject(browserUnavailable('The server is stopping'));
    if (member.live?.browser.isConnected()) return Promise.resolve(member.live);
    if (!member.connecting && performance.now() < member.retryAt)
      return Promise.reject(new RemoteBrowserError(member.reason));
    member.connecting ??= this.#open(member).finally(() => {
      member.connecting = undefined;
    });
    return member.connecting;
  }

  async #open(member: Member): Promise<Live> {
    const { token, egress, onAddress, log } = this.#config;
    const { address } = member;
    let connected: RemoteBrowser | undefined;
    try {
      if (onAddress) {
        const found = await lookup(address.host, { all: true }).catch(() => {
          throw new RemoteBrowserError('its host name cannot be resolved');
        });
        for (const { address: ip } of found) onAddress(ip, address.port);
      }
      const onDropped = (dropped: DroppedMessage) =>
        log?.('dropped a browser message that was too large', { browser: address.name, ...dropped });
      connected = await connectRemote(address, { token, onDropped });
      await proveConfinement(connected.browser, egress);
      if (this.#closed) throw new RemoteBrowserError('The server is stopping');
    } catch (error) {
      await connected?.browser.close().catch(() => {});
      this.#pause(member, error instanceof RemoteBrowserError ? error.message : 'it cannot be used');
      throw error;
    }
    const live: Live = { ...connected, since: performance.now(), open: 0 };
    const onLost = () => {
      if (member.live !== live) return;
      this.#lost++;
      this.#leave(member, live, 'the connection was lost');
    };
    member.live = live;
    member.reason = undefined;
    this.#connections++;
    log?.('a browser is connected', { browser: address.name, version: live.version });
    live.browser.once('disconnected', onLost);
    // It may have been lost since the check.
    if (!live.browser.isConnected()) onLost();
    this.#slots.refill();
    return live;
  }

  /** Opens no more pages in a browser. Its open pages may finish. */
  #leave(member: Member, live: Live, reason: string): void {
    member.live = undefined;
    if (performance.now() - live.since > STABLE_MS) member.failures = 0;
    if (live.open === 0) void disconnect(live);
    this.#pause(member, reason);
  }

  #pause(member: Member, reason: string): void {
    const pauseMs = BACKOFF_MS[Math.min(member.failures, BACKOFF_MS.length - 1)]!;
    member.failures++;
    member.retryAt = performance.now() + pauseMs;
    if (this.#closed) return;
    if (member.reason !== reason) this.#config.log?.('a browser is not used', { browser: member.address.name, reason });
    member.reason = reason;
    clearTimeout(member.retry);
    member.retry = setTimeout(() => {
      member.retryAt = 0;
      void this.#connect(member).catch(() => {});
    }, pauseMs).unref();
  }
}

/** Ends the connection and the contexts of this server; the browser itself goes on. */
const disconnect = ({ browser }: RemoteBrowser): Promise<void> => browser.close().catch(() => {});

export const createRemotePool = (config: RemotePoolConfig): RemotePool => new Browsers(config);
