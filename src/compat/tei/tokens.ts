/** TEI's endpoints for tokens. */
import type { CompatCall } from '../dialect.ts';
import { sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { DECODE_FIELDS, TOKENIZE_FIELDS } from './fields.ts';
import { modelOf } from './model.ts';

/** Positions in the text are not known, because tokenizers normalize it first. */
const NO_POSITION = { start: null, stop: null };

export async function tokenize(call: CompatCall): Promise<unknown> {
  const { inputs: texts, add_special_tokens: special } = readFields(TOKENIZE_FIELDS, call.body);
  const found = await call.native.tokenize(call, { model: modelOf(call, 'embedder'), texts, special });
  return sendJson(
    call.reply,
    found.map((tokens) => tokens.map(({ id, text, isSpecial }) => ({ id, text, special: isSpecial, ...NO_POSITION }))),
  );
}

export async function decode(call: CompatCall): Promise<unknown> {
  const { ids: lists, skip_special_tokens: skipSpecial } = readFields(DECODE_FIELDS, call.body);
  const model = modelOf(call, 'embedder');
  return sendJson(call.reply, await call.native.detokenize(call, { model, lists, skipSpecial, field: 'ids' }));
}
