/** vLLM's `/score`: one text with one or many, or lists of the same length, pair by pair. */
import { problem } from '#errors.ts';
import { MAX_INPUTS } from '#models/index.ts';
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields, renameFields } from '../fields.ts';
import { SCORE_FIELDS } from './fields.ts';
import { headOf, modelOf, usageOf } from './model.ts';

/** The names of the two sides. */
const FIRST = ['text_1', 'data_1', 'queries'] as const;
const SECOND = ['text_2', 'data_2', 'documents', 'items'] as const;

interface Side {
  readonly name: string;
  readonly texts: readonly unknown[];
  readonly isList: boolean;
}

export async function score(call: CompatCall): Promise<unknown> {
  const asked = readFields(SCORE_FIELDS, call.body);
  const model = modelOf(call, asked.model, 'reranker');
  const [first, second] = [sideOf(asked, FIRST), sideOf(asked, SECOND)];
  const isOneToMany = !first.isList || first.texts.length === 1;
  if (!isOneToMany && first.texts.length !== second.texts.length) {
    const message = `${second.name} must have ${first.texts.length} items, as ${first.name} has`;
    throw problem('ParamValidationError', { path: second.name, message });
  }
  const names = renameFields({ query: first.name, documents: second.name });
  const rank = (query: unknown, documents: readonly unknown[]) =>
    call.native.rerank(call, { model, query, documents }).catch(names);
  const scores: number[] = new Array(second.texts.length);
  let tokens = 0;
  let name = model;
  if (isOneToMany) {
    const ranked = await rank(first.texts[0], second.texts);
    for (const { index, score: value } of ranked.results) scores[index] = value;
    ({ tokens, name } = ranked);
  } else {
    for (const [at, query] of first.texts.entries()) {
      const ranked = await rank(query, [second.texts[at]]);
      scores[at] = ranked.results[0]!.score;
      tokens += ranked.tokens;
      name = ranked.name;
    }
  }
  return sendJson(call.reply, {
    ...headOf(call, 'score'),
    model: name,
    data: scores.map((value, index) => ({ index, object: 'score', score: value })),
    usage: usageOf(tokens),
  });
}

function sideOf(asked: Readonly<Record<string, unknown>>, names: readonly string[]): Side {
  const name = names.find((one) => asked[one] !== undefined);
  if (name === undefined) {
    throw problem('ParamValidationError', { path: names[0]!, message: `${names[0]} is required` });
  }
  const value = asked[name];
  if (!Array.isArray(value)) return { name, texts: [value], isList: false };
  if (value.length > 0 && value.length <= MAX_INPUTS) return { name, texts: value, isList: true };
  throw problem('ParamValidationError', { path: name, message: `${name} must have 1 to ${MAX_INPUTS} items` });
}
