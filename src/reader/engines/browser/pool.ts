/**
 * One Chromium and the pages that may be open in it. It is launched at the first read, replaced when it has served
 * enough, grown old or large, and relaunched when it ends by itself. Reads beyond the limit wait in a bounded queue.
 */
import { unlessAborted } from '#concurrency/deadline.ts';
import { problem } from '#errors.ts';
import type { FoundBrowser } from './find.ts';
import { type EgressAddress, type Launched, launchBrowser } from './launch.ts';
import { limitRenderers, type MemoryWatch, watchMemory } from './memory.ts';
import type { Dropped } from './messages.ts';
import { reapOrphans, residentBytes } from './orphans.ts';

export interface PoolConfig {
  readonly found: FoundBrowser;
  readonly egress: EgressAddress;
  readonly dataDir: string;
  /** Pages open at once. */
  readonly maxPages: number;
  /** Reads that may wait for a page. */
  readonly maxWaiting: number;
  readonly maxWaitMs?: number;
  /** When a browser is replaced by a new one: what it has served, its age, what it holds while no page is open. */
  readonly recycle?: { readonly pages?: number; readonly ageMs?: number; readonly rssBytes?: number };
  /** What one renderer may hold before it is ended. Default 512 MB. */
  readonly rendererBytes?: number;
  /** What the other processes of the browser may hold together before all of it is ended. Default 1 GB. */
  readonly otherBytes?: number;
  /** A process for each site; without it the browser's own default holds (off in the headless shell). */
  readonly siteIsolation?: boolean;
  readonly log?: (message: string, facts?: Record<string, unknown>) => void;
}

export interface PoolStatus {
  readonly path: string;
  /** Undefined until the first launch. */
  readonly version: string | undefined;
  readonly sandboxed: boolean | undefined;
  readonly pid: number | undefined;
  readonly pages: number;
  readonly waiting: number;
  /** Whether launching works, as far as is known. */
  readonly healthy: boolean;
  /** Since the pool was made: pages opened, browsers started, browsers that ended by themselves. */
  readonly opened: number;
  readonly launches: number;
  readonly crashes: number;
}

/** The right to open a page in a browser. Give it back with `release`, whatever happened. */
export interface Lease {
  readonly browser: Launched['browser'];
  readonly chromiumMajor: number;
  readonly egress: EgressAddress;
  release(): void;
}

interface Instance extends Launched {
  readonly memory: MemoryWatch;
  readonly since: number;
  served: number;
  open: number;
  retired: boolean;
}

interface Waiter {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

const BACKOFF_MS = [0, 250, 1_000, 4_000, 10_000];
/** A page fills hundreds of MB a second. */
const WATCH_MS = 100;
const MEGABYTE = 1024 * 1024;

export class Pool {
  readonly #config: PoolConfig;
  readonly #instances = new Set<Instance>();
  readonly #waiting: Waiter[] = [];
  #open = 0;
  #current: Promise<Instance> | undefined;
  #live: Instance | undefined;
  #reaped: Promise<unknown> | undefined;
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
  }

  status(): PoolStatus {
    return {
      path: this.#config.found.path,
      version: this.#live?.version,
      // Root has no sandbox, which is known before any launch.
      sandboxed: this.#sandboxed ?? (isRoot() ? false : undefined),
      pid: this.#live?.pid,
      pages: this.#open,
      waiting: this.#waiting.length,
      healthy: this.#failures === 0,
      opened: this.#opened,
      launches: this.#launches,
      crashes: this.#crashes,
    };
  }

  /** Launches the browser ahead of the first read, so that what it is can be told. */
  async warm(): Promise<PoolStatus> {
    await this.#instance();
    return this.status();
  }

  /** ServiceNodeResourceDrainError: too many wait already, none came free in time, or no browser can be started. */
  async lease(signal: AbortSignal, waitMs = Number.POSITIVE_INFINITY): Promise<Lease> {
    await this.#enter(signal, Math.min(waitMs, this.#config.maxWaitMs ?? 30_000));
    let instance: Instance;
    try {
      instance = await unlessAborted(signal, this.#instance());
    } catch (error) {
      this.#leave();
      throw error;
    }
    instance.served++;
    this.#opened++;
    instance.open++;
    this.#watchMemory();
    let released = false;
    return {
      browser: instance.browser,
      chromiumMajor: Number.parseInt(instance.version, 10),
      egress: this.#config.egress,
      release: () => {
        if (released) return;
        released = true;
        instance.open--;
        this.#leave();
        void this.#settle(instance);
      },
    };
  }

  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#watch);
    for (const waiter of this.#waiting.splice(0)) waiter.reject(drained('The server is stopping'));
    await this.#current?.catch(() => {});
    await Promise.all([...this.#instances].map((instance) => instance.end()));
  }

  async #enter(signal: AbortSignal, waitMs: number): Promise<void> {
    signal.throwIfAborted();
    if (this.#closed) throw drained('The server is stopping');
    if (this.#open < this.#config.maxPages) {
      this.#open++;
      return;
    }
    if (this.#waiting.length >= this.#config.maxWaiting) throw drained();
    let timer: NodeJS.Timeout | undefined;
    let stop: (() => void) | undefined;
    try {
      await new Promise<void>((resolve, reject) => {
        const waiter = { resolve, reject };
        const give = (error: unknown) => {
          const at = this.#waiting.indexOf(waiter);
          if (at < 0) return;
          this.#waiting.splice(at, 1);
          reject(error);
        };
        stop = () => give(signal.reason);
        timer = setTimeout(() => give(drained()), waitMs);
        signal.addEventListener('abort', stop, { once: true });
        this.#waiting.push(waiter);
      });
    } finally {
      clearTimeout(timer);
      if (stop) signal.removeEventListener('abort', stop);
    }
  }

  /** A waiter takes the place over, so the count stays. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next) next.resolve();
    else this.#open--;
  }

  async #instance(): Promise<Instance> {
    if (this.#closed) throw drained('The server is stopping');
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

  /** After a page: ends a browser that was waiting for its last page, replaces one that holds too much. */
  async #settle(instance: Instance): Promise<void> {
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
        throw drained('The browser does not start', { retryAfter: Math.ceil(left / 1_000) });
      }
      this.#reaped ??= reapOrphans(this.#config.dataDir).catch(() => {});
      await this.#reaped;
      const launched = await this.#launchSandboxed();
      this.#failures = 0;
      await limitRenderers(launched.pid, this.#rendererBytes);
      return this.#adopt(launched);
    } catch (error) {
      this.#current = undefined;
      throw error;
    }
  }

  /** Tries the sandbox once; whether it can be had is a fact of the machine. */
  async #launchSandboxed(): Promise<Launched> {
    const { found, egress, dataDir, siteIsolation = false, log } = this.#config;
    const onDropped = (dropped: Dropped) => log?.('the browser said more than may be taken', { ...dropped });
    const launch = (sandbox: boolean) => launchBrowser({ found, egress, dataDir, sandbox, siteIsolation, onDropped });
    try {
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
      throw drained('The browser does not start', {}, error);
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
      this.#config.log?.('the browser ended by itself', { pid: instance.pid });
      this.#retire(instance);
    });
    return instance;
  }

  /** Ends what grows without limit; the pages see it as a crash. Runs only while pages are open. */
  #watchMemory(): void {
    this.#watch ??= setInterval(() => {
      for (const { memory } of this.#instances) memory.check();
      if (this.#open > 0) return;
      clearInterval(this.#watch);
      this.#watch = undefined;
    }, WATCH_MS).unref();
  }
}

const isRoot = () => process.platform === 'linux' && process.getuid?.() === 0;

export const createPool = (config: PoolConfig): Pool => new Pool(config);

const drained = (message?: string, facts: Record<string, unknown> = {}, cause?: unknown) =>
  problem('ServiceNodeResourceDrainError', { ...(message ? { message } : {}), retryAfter: 1, ...facts }, cause);
