/** A worker's exclusive right to a job. Every change that the worker makes requires its token. */
export interface Lease {
  readonly jobId: string;
  readonly token: string;
}

/** Thrown if the job has ended or another worker holds the lease. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}
