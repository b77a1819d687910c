/** Example requests and responses for batch jobs. The responses were recorded from a server. */
import { EMBEDDER, EMBEDDINGS } from '../models/examples.ts';

export const BATCH_ID = 'batch_01m84fd0xnsvgc6kf3hk8axe9g';

export const BATCH_REQUEST = {
  model: EMBEDDER,
  dimensions: 64,
  embedding_type: 'binary',
  input: [
    { custom_id: 'a', body: { input: 'The river crosses four districts.' } },
    { custom_id: 'b', body: { input: [] } },
  ],
};

export const CREATED_BATCH = {
  batch_id: BATCH_ID,
  status: 'pending',
  model: EMBEDDER,
  created_at: '2026-11-23T15:11:43Z',
  completed_at: null,
  expires_at: '2026-11-24T15:11:43Z',
  stats: { total: 2, completed: 0, failed: 0, total_tokens: 0 },
  output_url: null,
  error_file_url: null,
  error: null,
};

const SIGNATURE = 'exp=1795533103&sig=9xP_8wIzJW0orekjyEIFipIAhCHnbvBb6R14IKncW3Y';

export const FINISHED_BATCH = {
  ...CREATED_BATCH,
  status: 'completed',
  completed_at: '2026-11-23T15:11:44Z',
  stats: { total: 2, completed: 1, failed: 1, total_tokens: 6 },
  output_url: `https://models.example/v1/batch/${BATCH_ID}/output?${SIGNATURE}`,
  error_file_url: `https://models.example/v1/batch/${BATCH_ID}/errors?${SIGNATURE}`,
};

export const OUTPUT_LINE = {
  id: 'batch_req_000001',
  custom_id: 'a',
  response: { status_code: 200, request_id: '2c1a23eebd22d207909edc0e2e1ca8f5', body: EMBEDDINGS.answer },
  error: null,
};
export const ERROR_LINE = {
  id: 'batch_req_000002',
  custom_id: 'b',
  line: 2,
  response: null,
  error: { code: 'INVALID_LINE', message: 'body.input must have at least one item' },
};
