/** Batch jobs of embeddings, processed in the background by the server. */
import { readRecords, resumeStream } from './jobs.ts';
import { sleep } from './limits.ts';
import { STANDARD_MODELS } from './models.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';
import type { BatchError, BatchJob, BatchOutput, BatchRequest } from './types.ts';

export interface WaitOptions extends CallOptions {
  /** Called after each poll. */
  readonly onProgress?: ((job: BatchJob) => void) | undefined;
  /** Poll interval; 1,000 by default. */
  readonly pollMs?: number | undefined;
}

export interface BatchCalls {
  submit(request: BatchRequest, call?: CallOptions): Promise<BatchJob>;
  get(id: string, call?: CallOptions): Promise<BatchJob>;
  /** Lists jobs, newest first; `limit` 1 to 100, 20 by default. */
  list(options?: CallOptions & { readonly limit?: number | undefined }): Promise<readonly BatchJob[]>;
  cancel(id: string, call?: CallOptions): Promise<BatchJob>;
  /** Yields the results of an ended job in line order; resumes a lost connection. */
  output(id: string, call?: CallOptions): AsyncGenerator<BatchOutput>;
  /** Yields the failed lines with their errors. */
  errors(id: string, call?: CallOptions): AsyncGenerator<BatchError>;
  /** Polls until the job has ended, with any status. */
  wait(id: string, options?: WaitOptions): Promise<BatchJob>;
}

const DEFAULT_POLL_MS = 1_000;

export function batchCalls(transport: Transport): BatchCalls {
  const { json } = transport;
  const pathOf = (id: string) => `/v1/batch/${encodeURIComponent(id)}`;
  const requestTo = (path: string, more: Partial<RequestSpec> = {}): RequestSpec => ({
    face: 'models',
    path,
    idempotent: true,
    ...more,
  });
  const get = (id: string, call?: CallOptions) => json<BatchJob>(requestTo(pathOf(id)), call);
  const file = <T>(id: string, kind: 'output' | 'errors', call?: CallOptions) =>
    resumeStream<T>((taken) => readRecords(transport, requestTo(`${pathOf(id)}/${kind}`), call, taken));

  return {
    submit: (request, call) =>
      json(
        requestTo('/v1/batch/embeddings', {
          method: 'POST',
          json: { model: STANDARD_MODELS.embed, ...request },
          idempotent: false,
        }),
        call,
      ),
    get,
    list: ({ limit, ...call } = {}) =>
      json(requestTo(`/v1/batches${limit === undefined ? '' : `?limit=${limit}`}`), call),
    cancel: (id, call) => json(requestTo(pathOf(id), { method: 'DELETE' }), call),
    output: (id, call) => file(id, 'output', call),
    errors: (id, call) => file(id, 'errors', call),
    async wait(id, { onProgress, pollMs = DEFAULT_POLL_MS, ...call } = {}) {
      for (;;) {
        const job = await get(id, call);
        onProgress?.(job);
        if (job.status !== 'pending' && job.status !== 'processing') return job;
        await sleep(pollMs, call.signal);
      }
    },
  };
}
