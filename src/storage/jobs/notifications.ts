/**
 * Tells processes whose turn it is, so that none of them has to look for it. It is a messenger and nothing else: who works
 * on a job the lease in the database decides, an id that comes twice does no harm, and one that is lost is found there.
 */
export interface JobNotifications {
  /** Whether ids come and go; where they do not, turns are looked for in the database. */
  readonly healthy: boolean;
  /** Says that a job may be taken, in so many milliseconds. Does not wait and does not fail. */
  announce(jobId: string, inMs: number): void;
  /** Waits a while for the id that was announced first. */
  next(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}
