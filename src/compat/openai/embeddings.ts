/** OpenAI's `/v1/embeddings`. Token ids are converted to text first. */
import { embeddingsAnswer } from '#api/models/embeddings-answer.ts';
import { problem } from '#errors.ts';
import { decodeTokens, loadTokens } from '#reader/index.ts';
import type { CompatCall } from '../dialect.ts';

type Ids = readonly number[];

const isIds = (value: unknown): value is Ids =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isInteger(id) && id >= 0);

/** `standard` is the model of requests that name none. */
export async function embeddings(call: CompatCall, standard?: string): Promise<unknown> {
  const body = bodyOf(call.body);
  const given = { ...body, model: body.model ?? standard, input: await textOf(body.input) };
  const embedded = await call.native.embed(call, given);
  const answer = await embeddingsAnswer({ ...embedded, model: embedded.name });
  return call.reply.type('application/json; charset=utf-8').send(answer);
}

function bodyOf(body: unknown): Readonly<Record<string, unknown>> {
  if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body as Record<string, unknown>;
  throw problem('ParamValidationError', { path: 'body', message: 'The body must be a JSON object' });
}

/**
 * The input as text. Clients that send token ids use cl100k_base, the vocabulary of OpenAI's embedding models, also for
 * models whose names they do not know.
 */
async function textOf(input: unknown): Promise<unknown> {
  const isOne = isIds(input);
  const lists = isOne ? [input] : input;
  if (!Array.isArray(lists) || lists.length === 0 || !lists.every(isIds)) return input;
  await loadTokens();
  const texts = lists.map((ids, at) => decodeTokens(ids) ?? unknownId(isOne ? 'input' : `input.${at}`));
  return isOne ? texts[0] : texts;
}

function unknownId(path: string): never {
  const message = `${path} has an id outside cl100k_base: send text (in LangChain's OpenAIEmbeddings, set check_embedding_ctx_length=False)`;
  throw problem('ParamValidationError', { path, message });
}
