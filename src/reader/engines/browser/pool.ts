/**
 * A pool of pages in one Chromium. The browser is launched for the first read. It is replaced after a number of pages,
 * after some time, or when it uses too much memory, and relaunched when it crashes. Reads beyond the maximum number of
 * pages wait in a bounded queue.
 */
import { unlessAborted } from '#concurrency/deadline.ts';
import type { FoundBrowser } from './find.ts';
import { type EgressAddress, type ForServers, type Launched, type LocalEgress, launchBrowser } from './launch.ts';
import { limitRenderers, type MemoryWatch, watchMemory } from './memory.ts';
import type { DroppedMessage } from './messages.ts';
import { killOrphans, residentBytes } from './orphans.ts';
import { browserUnavailable, PageSlots } from './page-slots.ts';

export interface PoolConfig {
  readonly found: FoundBrowser;
  /** Returns the egress proxy, which has to run before the browser is launched. */
  readonly openEgress: () => Promise<LocalEgress>;
  readonly dataDir: string;
  /** Maximum number of open pages. */
  readonly maxPages: number;
  /** Maximum number of reads that wait for a page. */
  readonly maxWaiting: number;
  readonly maxWaitMs?: number;
  /** Thresholds for replacing the browser: number of pages served, age, and memory while no page is open. */
  readonly recycle?: { readonly pages?: number; readonly ageMs?: number; readonly rssBytes?: number };
  /** Memory limit of a renderer, in bytes; a renderer that exceeds it is killed. Default: 512 MB. */
  readonly rendererBytes?: number;
  /**
   * Limit for the total memory of the browser's other processes, in bytes; if it is exceeded, the browser is killed.
   * Default: 1 GB.
   */
  readonly otherBytes?: number;
  /** Runs each site in a separate process. Otherwise the browser's default applies (off in the headless shell). */
  readonly siteIsolation?: boolean;
  /** For `lectern browser-worker`, whose leases are connections of servers. */
  readonly forServers?: ForServers;
  readonly log?: (message: string, facts?: Record<string, unknown>) => void;
}

/** Where pages are opened: in a browser that this server launched, or in browsers on other machines. */
export interface PagePool {
  status(): PoolStatus;
  /**
   * Waits for a page. Throws ServiceNodeResourceDrainError if the queue is full, the wait is too long, or no browser is
   * available.
   */
  lease(signal: AbortSignal, waitMs?: number): Promise<Lease>;
  close(): Promise<void>;
}

export interface PoolStatus {
  /** `undefined` until the first launch. */
  readonly version: string | undefined;
  readonly sandboxed: boolean | undefined;
  readonly pid: number | undefined;
  readonly pages: number;
  readonly waiting: number;
  /** Whether the last launch succeeded. */
  readonly healthy: boolean;
  /** Counters since the pool was created: pages opened, browsers launched, and browser crashes. */
  readonly opened: number;
  readonly launches: number;
  readonly crashes: number;
  /** Browsers on other machines: how many are configured and how many are connected. */
  readonly remote?: { readonly configured: number; readonly connected: number };
}

/** A slot: the right to open a page in a browser. Always call `release`. */
export interface Lease {
  readonly browser: Launched['browser'];
  /** WebSocket URL of its DevTools port, for `lectern browser-worker`. */
  readonly devtoolsUrl?: string | undefined;
  readonly chromiumMajor: number;
  readonly egress: EgressAddress;
  /** Whether the browser was started with our language (`languageFlags`), which then needs no override. */
  readonly hasOurLanguage: boolean;
  /**
   * Call if the browser opens no context. The pool stops using it, and another lease may succeed. Undefined if the pool
   * has only one browser.
   */
  readonly discard?: ((error: unknown) => void) | undefined;
  release(): void;
}

interface Instance extends Launched {
  readonly memory: MemoryWatch;
  readonly since: number;
  served: number;
  open: number;
  retired: boolean;
}

const BACKOFF_MS = [0, 250, 1_000, 4_000, 10_000];
/** A page can allocate hundreds of MB per second. */
const MEMORY_CHECK_MS = 100;
const MEGABYTE = 1024 * 1024;

export class Pool implements PagePool {
  readonly #config: PoolConfig;
  readonly #instances = new Set<Instance>();
  readonly #slots: PageSlots;
  #current: Promise<Instance> | undefined;
  #live: Instance | undefined;
  #orphansEnded: Promise<unknown> | undefined;
  #sandboxed: boolean | undefined;
  #failures = 0;
  #failedAt = 0;
  #watch: NodeJS.Timeout | undefined;
  #closed = false;
  #opened = 0;
  #launches = 0;
  #crashes = 0;

  constructor(config: PoolConfig) {
    this.#config = config;
    const { maxPages, maxWaiting, maxWaitMs } = config;
    this.#slots = new PageSlots({ maxPages: () => maxPages, maxWaiting, maxWaitMs });
  }

  status(): PoolStatus {
    return {
      version: this.#live?.version,
      // Chromium has no sandbox when run as root, so the outcome is known before the launch.
      sandboxed: this.#sandboxed ?? (isRoot() ? false : undefined),
      pid: this.#live?.pid,
      pages: this.#slots.open,
      waiting: this.#slots.waiting,
      healthy: this.#failures === 0,
      opened: this.#opened,
      launches: this.#launches,
      crashes: this.#crashes,
    };
  }

  /** Launches the browser before the first read, so that its version and sandbox state are known. */
  async warm(): Promise<PoolStatus> {
    await this.#instance();
    return this.status();
  }

  async lease(signal: AbortSignal, waitMs?: number): Promise<Lease> {
    await this.#slots.acquire(signal, waitMs);
    let instance: Instance;
    try {
      instance = await unlessAborted(signal, this.#instance());
    } catch (error) {
      this.#slots.release();
      throw error;
    }
    instance.served++;
    this.#opened++;
    instance.open++;
    this.#watchMemory();
    let released = false;
    return {
      browser: instance.browser,
      devtoolsUrl: instance.devtoolsUrl,
      chromiumMajor: Number.parseInt(instance.version, 10),
      egress: instance.egress,
      // On other systems, the system language overrides the language with which the browser was started. Workers also
      // see the full language list if there is no override.
      hasOurLanguage: process.platform === 'linux',
      release: () => {
        if (released) return;
        released = true;
        instance.open--;
        this.#slots.release();
        void this.#afterPage(instance);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    this.#slots.close();
    await this.#current?.catch(() => {});
    await Promise.all([...this.#instances].map((instance) => instance.end()));
  }

  async #instance(): Promise<Instance> {
    if (this.#closed) throw browserUnavailable('The server is stopping');
    const live = this.#live;
    if (live && (this.#isSpent(live) || !live.browser.isConnected())) this.#retire(live);
    this.#current ??= this.#launch();
    return this.#current;
  }

  #isSpent({ served, since }: Instance): boolean {
    const { pages = 500, ageMs = 30 * 60_000 } = this.#config.recycle ?? {};
    return served >= pages || performance.now() - since > ageMs;
  }

  #retire(instance: Instance): void {
    instance.retired = true;
    if (this.#live === instance) {
      this.#live = undefined;
      this.#current = undefined;
    }
    if (instance.open === 0) void this.#end(instance);
  }

  async #end(instance: Instance): Promise<void> {
    await instance.end();
    this.#instances.delete(instance);
  }

  /** After a page is closed: ends a retired browser, and replaces one that uses too much memory. */
  async #afterPage(instance: Instance): Promise<void> {
    if (instance.open > 0) return;
    if (instance.retired) return this.#end(instance);
    const { rssBytes = 1_500 * MEGABYTE } = this.#config.recycle ?? {};
    const processes = await instance.processes().catch(() => []);
    const held = processes.reduce((sum, pid) => sum + residentBytes(pid), 0);
    if (held > rssBytes && !instance.retired) this.#retire(instance);
  }

  async #launch(): Promise<Instance> {
    const pause = BACKOFF_MS[Math.min(this.#failures, BACKOFF_MS.length - 1)]!;
    const left = this.#failedAt + pause - performance.now();
    try {
      if (this.#failures && left > 0) {
        throw browserUnavailable('The browser does not start', { retryAfter: Math.ceil(left / 1_000) });
      }
      this.#orphansEnded ??= killOrphans(this.#config.dataDir).catch(() => {});
      await this.#orphansEnded;
      const launched = await this.#launchSandboxed();
      this.#failures = 0;
      await limitRenderers(launched.pid, this.#rendererBytes);
      return this.#adopt(launched);
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  /** Tries the sandbox once, because only the attempt shows whether it works on this machine. */
  async #launchSandboxed(): Promise<Launched> {
    const { found, openEgress, dataDir, siteIsolation = false, forServers, log } = this.#config;
    const onDropped = (dropped: DroppedMessage) =>
      log?.('dropped a browser message that was too large', { ...dropped });
    try {
      const egress = await openEgress();
      const launch = (sandbox: boolean) =>
        launchBrowser({ found, egress, dataDir, sandbox, siteIsolation, forServers, onDropped });
      if (this.#sandboxed !== false && !isRoot()) {
        try {
          const launched = await launch(true);
          this.#sandboxed = true;
          return launched;
        } catch (error) {
          if (this.#sandboxed) throw error;
          log?.('the browser does not start in its sandbox', { reason: (error as Error).message.slice(0, 300) });
        }
      }
      const launched = await launch(false);
      this.#sandboxed = false;
      return launched;
    } catch (error) {
      this.#failures++;
      this.#failedAt = performance.now();
      log?.('the browser could not be started', { reason: (error as Error).message.slice(0, 1_000) });
      throw browserUnavailable('The browser does not start', {}, error);
    }
  }

  get #rendererBytes(): number {
    return this.#config.rendererBytes ?? 512 * MEGABYTE;
  }

  #adopt(launched: Launched): Instance {
    const limits = { rendererBytes: this.#rendererBytes, otherBytes: this.#config.otherBytes ?? 1_024 * MEGABYTE };
    const instance: Instance = Object.assign(launched, {
      memory: watchMemory(launched.pid, limits, (message, facts) => this.#config.log?.(message, facts)),
      since: performance.now(),
      served: 0,
      open: 0,
      retired: false,
    });
    this.#instances.add(instance);
    this.#launches++;
    this.#live = instance;
    launched.browser.on('disconnected', () => {
      if (this.#closed || instance.retired) return;
      this.#crashes++;
      this.#config.log?.('the browser crashed', { pid: instance.pid });
      this.#retire(instance);
    });
    return instance;
  }

  /**
   * Kills processes that exceed their memory limit; their pages are reported as crashed. Runs only while pages are
   * open.
   */
  #watchMemory(): void {
    this.#watch ??= setInterval(() => {
      for (const { memory } of this.#instances) memory.check();
      if (this.#slots.open > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    }, MEMORY_CHECK_MS).unref();
  }
}

const isRoot = () => process.platform === 'linux' && process.getuid?.() === 0;

export const createPool = (config: PoolConfig): Pool => new Pool(config);
