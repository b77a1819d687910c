/** TEI's endpoints that return vectors. */
import { problem } from '#errors.ts';
import { idsOfPieces } from '#models/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renameFields } from '../fields.ts';
import type { Embedded } from '../native/models.ts';
import { contextOf } from '../native/models.ts';
import { listJson, sendJsonText, tokenVectorsOf, vectorJson, vectorsOf } from '../native/vectors.ts';
import { EMBED_FIELDS, SIMILARITY_FIELDS, TOKEN_EMBED_FIELDS } from './fields.ts';
import { modelOf, refuseLeft, sideOf, textsOf } from './model.ts';

const NAMES = { input: 'inputs', normalized: 'normalize' };

export async function embed(call: CompatCall): Promise<unknown> {
  const asked = readFields(EMBED_FIELDS, call.body);
  refuseLeft(asked);
  const model = modelOf(call, 'embedder');
  const embedded = await call.native
    .embed(call, {
      model,
      input: await textsOf(call, model, asked.inputs),
      truncate: asked.truncate ?? false,
      normalized: asked.normalize,
      dimensions: asked.dimensions,
      ...sideOf(asked.prompt_name),
    })
    .catch(renameFields(NAMES));
  if (embedded.request.output !== 'pooled') throw wrongOutput(embedded);
  return send(call, embedded, listJson(vectorsOf(embedded).map(vectorJson)));
}

export async function embedAll(call: CompatCall): Promise<unknown> {
  const asked = readFields(TOKEN_EMBED_FIELDS, call.body);
  refuseLeft(asked);
  const model = modelOf(call, 'embedder');
  const embedded = await call.native
    .embedTokens(call, {
      model,
      input: await textsOf(call, model, asked.inputs),
      truncate: asked.truncate ?? false,
      ...sideOf(asked.prompt_name),
    })
    .catch(renameFields(NAMES));
  return send(call, embedded, listJson(tokenVectorsOf(embedded).map((rows) => listJson(rows.map(vectorJson)))));
}

export async function embedSparse(call: CompatCall): Promise<unknown> {
  const asked = readFields(TOKEN_EMBED_FIELDS, call.body);
  refuseLeft(asked);
  const model = modelOf(call, 'embedder');
  const { kind, row } = await call.native.parts.modelHost.registry.embedding(model);
  if (kind !== 'sparse') {
    const message = `model ${model} has no sparse vectors: use /for/tei/MODEL/embed_sparse with a model that has them`;
    throw problem('DownstreamServiceFailureError', { message });
  }
  const embedded = await call.native
    .embed(call, { model, input: await textsOf(call, model, asked.inputs), ...sideOf(asked.prompt_name) })
    .catch(renameFields(NAMES));
  const weights = embedded.embeddings.outputs.map((output) => Object.entries(output.weights ?? {}));
  const pieces = [...new Set(weights.flatMap((entries) => entries.map(([piece]) => piece)))];
  const ids = await idsOfPieces(call.native.parts.modelHost.models, row, pieces, contextOf(call));
  const idOf = new Map(pieces.map((piece, at) => [piece, ids[at]]));
  showTokens(call, embedded);
  return sendJson(
    call.reply,
    weights.map((entries) => entries.map(([piece, value]) => ({ index: idOf.get(piece), value }))),
  );
}

export async function similarity(call: CompatCall): Promise<unknown> {
  const { inputs, parameters } = readFields(SIMILARITY_FIELDS, call.body);
  refuseLeft(parameters);
  const embedded = await call.native
    .embed(call, {
      model: modelOf(call, 'embedder'),
      input: [inputs.source_sentence, ...inputs.sentences],
      truncate: parameters.truncate ?? false,
      ...sideOf(parameters.prompt_name),
    })
    .catch(renameFields({ input: 'inputs.sentences' }));
  if (embedded.request.output !== 'pooled') throw wrongOutput(embedded);
  const [source, ...others] = vectorsOf(embedded);
  showTokens(call, embedded);
  return sendJson(
    call.reply,
    others.map((vector) => dotProduct(source!, vector)),
  );
}

/** The cosine of vectors of length 1. */
const dotProduct = (one: Float32Array, other: Float32Array): number =>
  one.reduce((sum, value, at) => sum + value * other[at]!, 0);

function wrongOutput({ name, request: { output } }: Embedded) {
  const path = output === 'sparse' ? '/embed_sparse' : '/embed_all';
  return problem('ParamValidationError', { path: 'model', message: `model ${name} has no single vector: use ${path}` });
}

/** TEI reports the tokens in a header, because its responses have no envelope. */
const showTokens = ({ reply }: CompatCall, { embeddings }: Embedded) =>
  void reply.header('x-compute-tokens', String(embeddings.tokens));

function send(call: CompatCall, embedded: Embedded, json: string): unknown {
  showTokens(call, embedded);
  return sendJsonText(call.reply, json);
}
