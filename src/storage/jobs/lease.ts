/** A worker's exclusive right to process a job. Every change that the worker makes requires the lease's token. */
export interface Lease {
  readonly jobId: string;
  readonly token: string;
}

/** Thrown if the job has ended or another worker holds the lease. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}
