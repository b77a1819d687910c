/** What `/info` says about the model of a URL. */
import { quantizationOf } from '#api/models/models.ts';
import { problem } from '#errors.ts';
import { isEmbedding, MAX_INPUTS, type ServedModel } from '#models/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { modelOf } from './model.ts';

export async function info(call: CompatCall): Promise<unknown> {
  const name = modelOf(call, 'embedder');
  const { registry } = call.native.parts.modelHost;
  const model = await registry.find(name);
  if (!model) throw problem('ModelNotFoundError', { message: `Model ${name.slice(0, 100)} not found` });
  const { row } = model;
  return sendJson(call.reply, {
    model_id: row.hub || row.id,
    model_sha: null,
    model_dtype: quantizationOf(row) || 'float32',
    served_model_name: model.name,
    model_type: typeOf(model),
    max_concurrent_requests: MAX_CONCURRENT,
    max_input_length: row.contextTokens,
    max_batch_tokens: row.contextTokens * MAX_INPUTS,
    max_batch_requests: null,
    max_client_batch_size: MAX_INPUTS,
    auto_truncate: false,
    tokenization_workers: 1,
    version: call.native.parts.version,
    sha: null,
    docker_label: null,
  });
}

/** TEI's own default. Requests beyond it wait here instead of being refused. */
const MAX_CONCURRENT = 512;

/** The names of poolings in TEI. A model without pooling returns one vector itself. */
const POOLINGS = { mean: 'mean', cls: 'cls', last: 'last_token', none: 'mean' } as const;

function typeOf(model: ServedModel): object {
  if (!isEmbedding(model)) return { reranker: { id2label: { 0: 'LABEL_0' }, label2id: { LABEL_0: 0 } } };
  return { embedding: { pooling: model.kind === 'sparse' ? 'splade' : POOLINGS[model.row.pooling] } };
}
