/**
 * Notifies processes of jobs that are ready, so that they need not poll the database. Notifications are only hints: the
 * lease in the database decides who works on a job. A duplicate does no harm, and a lost one is found in the database.
 */
export interface JobNotifications {
  /** Whether notifications are delivered. If not, workers poll the database. */
  readonly healthy: boolean;
  /** Announces that a job will be ready in `inMs` milliseconds. Returns at once and never fails. */
  announce(jobId: string, inMs: number): void;
  /** Waits a few seconds for the job id announced first; `undefined` if there is none. */
  next(signal: AbortSignal): Promise<string | undefined>;
  close(): Promise<void>;
}
