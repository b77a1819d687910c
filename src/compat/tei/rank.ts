/** TEI's endpoints for rerankers. */
import { problem } from '#errors.ts';
import { MAX_INPUTS } from '#models/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renameFields } from '../fields.ts';
import { showIgnored } from '../ignored.ts';
import { PREDICT_FIELDS, RERANK_FIELDS } from './fields.ts';
import { modelOf } from './model.ts';

/** Scores are rounded to 8 decimals, so 0 and 1 are at most half a step away. */
const HALF_STEP = 5e-9;

/** The log odds of a score, which is the output of a cross-encoder before the logistic function. */
function logOdds(score: number): number {
  const inside = Math.min(Math.max(score, HALF_STEP), 1 - HALF_STEP);
  return Math.log(inside / (1 - inside));
}

/** The direction has no effect, because documents that are too long are read whole, in windows. */
function showDirection(call: CompatCall, direction: 'left' | 'right'): void {
  if (direction === 'left') showIgnored(call.reply, ['truncation_direction']);
}

export async function rerank(call: CompatCall): Promise<unknown> {
  const asked = readFields(RERANK_FIELDS, call.body);
  const { query, texts, truncate: truncation } = asked;
  const { results, tokens } = await call.native
    .rerank(call, { model: modelOf(call, 'reranker'), query, documents: texts, truncation })
    .catch(renameFields({ documents: 'texts', truncation: 'truncate' }));
  showDirection(call, asked.truncation_direction);
  call.reply.header('x-compute-tokens', String(tokens));
  return sendJson(
    call.reply,
    results.map(({ index, score }) => ({
      index,
      ...(asked.return_text && { text: (texts as unknown[])[index] }),
      score: asked.raw_scores ? logOdds(score) : score,
    })),
  );
}

type Pair = readonly [string, string];

const isPair = (value: unknown): value is Pair =>
  Array.isArray(value) && value.length === 2 && value.every((text) => typeof text === 'string');

/** Scores pairs of texts. All pairs with the same first text are one ranking. */
export async function predict(call: CompatCall): Promise<unknown> {
  const asked = readFields(PREDICT_FIELDS, call.body);
  const isBatch = !isPair(asked.inputs);
  const pairs = pairsOf(asked.inputs);
  const model = modelOf(call, 'reranker');
  const scores: number[] = new Array(pairs.length);
  for (const [query, places] of placesByQuery(pairs)) {
    const documents = places.map((at) => pairs[at]![1]);
    const { results } = await call.native
      .rerank(call, { model, query, documents, truncation: asked.truncate })
      .catch(renameFields({ query: 'inputs', documents: 'inputs', truncation: 'truncate' }));
    for (const { index, score } of results) scores[places[index]!] = score;
  }
  showDirection(call, asked.truncation_direction);
  const predictions = scores.map((score) => [{ score: asked.raw_scores ? logOdds(score) : score, label: 'LABEL_0' }]);
  return sendJson(call.reply, isBatch ? predictions : predictions[0]);
}

function pairsOf(inputs: unknown): readonly Pair[] {
  if (isPair(inputs)) return [inputs];
  const message = 'must be a pair of texts, or a list of pairs: rerankers score a pair';
  if (!Array.isArray(inputs) || inputs.length === 0) {
    throw problem('ParamValidationError', { path: 'inputs', message: `inputs ${message}` });
  }
  if (inputs.length > MAX_INPUTS) {
    throw problem('ParamValidationError', { path: 'inputs', message: `inputs must have at most ${MAX_INPUTS} pairs` });
  }
  const wrong = inputs.findIndex((item) => !isPair(item));
  if (wrong < 0) return inputs as Pair[];
  throw problem('ParamValidationError', {
    path: `inputs.${wrong}`,
    message: `inputs.${wrong} must be a pair of texts`,
  });
}

function placesByQuery(pairs: readonly Pair[]): Map<string, number[]> {
  const found = new Map<string, number[]>();
  for (const [at, [query]] of pairs.entries()) found.set(query, [...(found.get(query) ?? []), at]);
  return found;
}
