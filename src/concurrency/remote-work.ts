/** The contract of work that other machines do: a server sends requests of one kind, and workers answer them. */
import { type Problem, problem } from '#errors.ts';

/** Sends requests of one kind to workers. Requests and answers are plain data, and may contain typed arrays. */
export interface RemoteWork<Request, Answer> {
  /**
   * Returns the answer of a worker. Throws the worker's problem; ServiceNodeResourceDrainError with `retryAfter` (the
   * queue is full, no worker is running, or none became free in time); ServiceAwayError with `retryAfter` (the queue
   * cannot be reached, or lost the request); or the signal's reason, in which case the request is cancelled.
   */
  run(request: Request, signal: AbortSignal): Promise<Answer>;
  /** Throws what `run` throws if a request would be refused now. For use before a large attachment is stored. */
  check(): Promise<void>;
  readonly attachments: Attachments;
}

/** Bytes that several requests refer to, such as a file whose pages are rendered one by one. */
export interface Attachments {
  /** Size of the largest attachment, in bytes. */
  readonly maxBytes: number;
  /** Stores bytes for some minutes and returns their name. Throws TargetFileTooLargeError or ServiceAwayError. */
  put(bytes: Uint8Array): Promise<string>;
  /** Returns `undefined` if the bytes have been removed. */
  get(name: string): Promise<Uint8Array | undefined>;
  /** Extends the time that the bytes are stored; false if they have been removed. */
  keep(name: string): Promise<boolean>;
  remove(name: string): Promise<void>;
}

/** Answers a request on a worker. The signal aborts if nobody waits for the answer any more. */
export type WorkHandler = (request: unknown, signal: AbortSignal) => Promise<unknown>;

export const attachmentTooLarge = (maxBytes: number): Problem =>
  problem('TargetFileTooLargeError', {
    message: `The file or request has more than ${Math.floor(maxBytes / 1024 ** 2)} MB, the limit of this server for work that other machines do`,
  });
