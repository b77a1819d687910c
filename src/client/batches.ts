/** Batch jobs: many texts at a time, done when there is room for them. */
import { fileOf, unbroken } from './jobs.ts';
import { pause } from './limits.ts';
import { STANDARD_MODELS } from './models.ts';
import type { Ask, CallOptions, Transport } from './transport.ts';
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

const STANDARD_POLL_MS = 1_000;

export function batchCalls(transport: Transport): BatchCalls {
  const { json } = transport;
  const placeOf = (id: string) => `/v1/batch/${encodeURIComponent(id)}`;
  const asked = (path: string, more: Partial<Ask> = {}): Ask => ({ face: 'models', path, repeatable: true, ...more });
  const get = (id: string, call?: CallOptions) => json<BatchJob>(asked(placeOf(id)), call);
  const file = <T>(id: string, kind: 'output' | 'errors', call?: CallOptions) =>
    unbroken<T>((taken) => fileOf(transport, asked(`${placeOf(id)}/${kind}`), call, taken));

  return {
    submit: (request, call) =>
      json(
        asked('/v1/batch/embeddings', {
          method: 'POST',
          json: { model: STANDARD_MODELS.embed, ...request },
          repeatable: false,
        }),
        call,
      ),
    get,
    list: ({ limit, ...call } = {}) => json(asked(`/v1/batches${limit === undefined ? '' : `?limit=${limit}`}`), call),
    cancel: (id, call) => json(asked(placeOf(id), { method: 'DELETE' }), call),
    output: (id, call) => file(id, 'output', call),
    errors: (id, call) => file(id, 'errors', call),
    async wait(id, { onProgress, pollMs = STANDARD_POLL_MS, ...call } = {}) {
      for (;;) {
        const job = await get(id, call);
        onProgress?.(job);
        if (job.status !== 'pending' && job.status !== 'processing') return job;
        await pause(pollMs, call.signal);
      }
    },
  };
}
