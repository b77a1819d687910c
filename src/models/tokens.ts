/** Converts between texts and the token ids of a served model. */
import { problem } from '#errors.ts';
import type { Backend, Token, TokenCodec } from './backend.ts';
import type { ModelRow } from './registry/catalogue.ts';
import type { ModelRuntime, ModelUse, RequestContext } from './registry/model-runtime.ts';

type Caller = Pick<RequestContext, 'signal'>;

/** Characters that are reserved in memory for one token id. */
const CHARACTERS_AN_ID = 8;

/** Returns the tokens of each text, without the prompt of a task. */
export async function tokenize(
  models: ModelRuntime,
  row: ModelRow,
  { texts, special }: { readonly texts: readonly string[]; readonly special: boolean },
  { signal }: Caller,
): Promise<Token[][]> {
  const characters = texts.reduce((sum, text) => sum + text.length, 0);
  return withCodec(models, row, { signal, characters }, (codec, within) =>
    codec.encode(texts, { special, signal: within }),
  );
}

/** Returns the text of each list of ids; `undefined` for a list with an id outside the vocabulary. */
export async function detokenize(
  models: ModelRuntime,
  row: ModelRow,
  { lists, skipSpecial }: { readonly lists: readonly (readonly number[])[]; readonly skipSpecial: boolean },
  { signal }: Caller,
): Promise<(string | undefined)[]> {
  const characters = lists.reduce((sum, list) => sum + list.length * CHARACTERS_AN_ID, 0);
  return withCodec(models, row, { signal, characters }, (codec, within) =>
    codec.decode(lists, { skipSpecial, signal: within }),
  );
}

/** Returns the ids of pieces of a model's vocabulary. */
export const idsOfPieces = (
  models: ModelRuntime,
  row: ModelRow,
  pieces: readonly string[],
  { signal }: Caller,
): Promise<(number | undefined)[]> =>
  withCodec(models, row, { signal, characters: 0 }, (codec, within) => codec.idsOf(pieces, within));

/** Throws ParamValidationError if the vocabulary is not known here. */
async function withCodec<Result>(
  models: ModelRuntime,
  row: ModelRow,
  use: ModelUse,
  work: (codec: TokenCodec, signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  const run = ({ backend }: { readonly backend: Backend }, signal: AbortSignal) => {
    if (backend.tokens) return work(backend.tokens, signal);
    const message = `model ${row.id} runs on another server, whose tokens are not known here`;
    throw problem('ParamValidationError', { path: 'model', message });
  };
  return row.does === 'embed' ? models.withEmbedder(row, use, run) : models.withReranker(row, use, run);
}
