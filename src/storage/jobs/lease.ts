/** Whoever works on a job has a word of its own; what it changes is bound to that word. */
export interface Lease {
  readonly jobId: string;
  readonly token: string;
}

/** Another worker has the job now, or it has ended. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLost';
}
