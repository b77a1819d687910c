/**
 * Blobs as objects of an S3 bucket. If the store fails or does not answer in time, a circuit breaker fails further calls
 * at once, and one call after a pause tests the store again. Reads and writes have a breaker each, because a full store
 * still answers reads. While a breaker is open, a small object is read or written from time to time: otherwise the store
 * of an idle server, or of one that has what it needs in memory, would be reported as away for ever.
 */
import { type Breaker, createBreaker } from '#concurrency/breaker.ts';
import type { Log } from '#telemetry/log.ts';
import { type Blobs, BlobsUnavailableError, blobName } from './blobs.ts';
import { type BucketOptions, openS3Objects } from './s3-objects.ts';

export interface S3Blobs extends Blobs {
  /** Whether the last reads and writes succeeded. */
  readonly healthy: boolean;
  close(): void;
}

export interface S3BlobsOptions extends BucketOptions {
  readonly log?: Pick<Log, 'warn' | 'info'> | undefined;
}

/** Two calls in a row, because a single one may have met a connection that was just closed. */
const FAILURES = 2;
const FIRST_PAUSE_MS = 2_000;
const LONGEST_PAUSE_MS = 30_000;
/** The largest object that is read at once. */
const MAX_BYTES = 256 * 1024 * 1024;
const READ_PROBE_MS = 5_000;
/** Longer: a store that is nearly full takes the small object, but not what follows. */
const WRITE_PROBE_MS = 30_000;
const PROBE_KEY = 'probe';

/** Throws if the URL is invalid. The store is not contacted. */
export async function openS3Blobs({ log, ...bucket }: S3BlobsOptions): Promise<S3Blobs> {
  const objects = await openS3Objects(bucket);
  const reads = createCircuit('read', log);
  const writes = createCircuit('written', log);
  const keyOf = (name: string) => `${name.slice(0, 2)}/${name}`;
  // The outcome of a probe is in the breaker.
  const probe = (circuit: typeof reads, work: () => Promise<unknown>, intervalMs: number) =>
    setInterval(() => void (circuit.closed || circuit.run(work).catch(() => {})), intervalMs).unref();
  const probes = [
    probe(reads, () => objects.get(PROBE_KEY), READ_PROBE_MS),
    probe(writes, () => objects.put(PROBE_KEY, Buffer.from('Tests whether objects can be written.')), WRITE_PROBE_MS),
  ];
  return {
    maxBytes: MAX_BYTES,
    get healthy() {
      return reads.closed && writes.closed;
    },
    put: (name, bytes) => writes.run(() => objects.put(keyOf(name), bytes)),
    async get(name) {
      const bytes = await reads.run(() => objects.get(keyOf(name)));
      return bytes && blobName(bytes) === name ? bytes : undefined;
    },
    // Removals run in the background and are repeated later, so they do not open the breaker.
    remove: (name) => objects.remove(keyOf(name)),
    close() {
      for (const timer of probes) clearInterval(timer);
      objects.close();
    },
  };
}

function createCircuit(verb: 'read' | 'written', log: S3BlobsOptions['log']) {
  let closed = true;
  let lastError: unknown;
  const breaker: Breaker = createBreaker({
    failures: FAILURES,
    firstMs: FIRST_PAUSE_MS,
    longestMs: LONGEST_PAUSE_MS,
    now: () => performance.now(),
    refusal: () => new BlobsUnavailableError(`the S3 store could not be ${verb}`, { cause: lastError }),
    onChange(state) {
      closed = state === 'closed';
      if (closed) log?.info({}, `the S3 store can be ${verb} again`);
      else
        log?.warn({ err: lastError }, `the S3 store cannot be ${verb}: the server works without it until it answers`);
    },
  });
  return {
    get closed() {
      return closed;
    },
    async run<Result>(work: () => Promise<Result>): Promise<Result> {
      const ticket = breaker.enter();
      try {
        const result = await work();
        ticket.succeeded();
        return result;
      } catch (error) {
        lastError = error;
        ticket.failed();
        throw new BlobsUnavailableError(`the S3 store could not be ${verb}`, { cause: error });
      }
    },
  };
}
