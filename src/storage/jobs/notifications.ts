/**
 * Notifies processes of jobs that are ready, so that they do not need to poll the database. Notifications are only
 * hints: the lease in the database decides which process runs a job. A duplicate notification is harmless, and the job
 * of a lost one is found in the database.
 */
export interface JobNotifications {
  /** Whether notifications are delivered. If not, workers poll the database. */
  readonly healthy: boolean;
  /** Announces that a job will be ready in `inMs` milliseconds. Returns immediately and never fails. */
  announce(jobId: string, inMs: number): void;
  /** Waits a few seconds for the id of the job that was announced first. Returns `undefined` if there is none. */
  next(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}
