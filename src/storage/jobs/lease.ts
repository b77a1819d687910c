/** A worker's exclusive right to a job. Every change that the worker makes requires its token. */
export interface Lease {
  readonly jobId: string;
  readonly token: string;
}

/** The job has ended, or another worker has it. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError';
}
