/** Batch jobs: many texts at a time, done when there is room for them. */
import { readRecords, resuming } from './jobs.ts';
import { sleep } from './limits.ts';
import { STANDARD_MODELS } from './models.ts';
import type { CallOptions, RequestSpec, Transport } from './transport.ts';
import type { BatchError, BatchJob, BatchOutput, BatchRequest } from './types.ts';

export interface WaitOptions extends CallOptions {
  /** Told at each look. */
  readonly onProgress?: ((job: BatchJob) => void) | undefined;
  /** Between two looks: 1,000 when not given. */
  readonly pollMs?: number | undefined;
}

export interface BatchCalls {
  submit(request: BatchRequest, call?: CallOptions): Promise<BatchJob>;
  get(id: string, call?: CallOptions): Promise<BatchJob>;
  /** Newest first; `limit` 1 to 100, 20 when not given. */
  list(options?: CallOptions & { readonly limit?: number | undefined }): Promise<readonly BatchJob[]>;
  cancel(id: string, call?: CallOptions): Promise<BatchJob>;
  /** What came of the lines of an ended job, in their order; a connection that breaks is taken up again. */
  output(id: string, call?: CallOptions): AsyncGenerator<BatchOutput>;
  /** Why lines failed. */
  errors(id: string, call?: CallOptions): AsyncGenerator<BatchError>;
  /** The job once it has ended, however it did. */
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
    resuming<T>((taken) => readRecords(transport, requestTo(`${pathOf(id)}/${kind}`), call, taken));

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
