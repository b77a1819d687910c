/** The segmenter: counts the tokens of a text, and splits it into chunks. */
import { problem } from '#errors.ts';
import type { CompatCall, CompatRoute, Dialect } from '../dialect.ts';
import { plainError, sendJson } from '../errors.ts';
import { readFields } from '../fields.ts';
import { chunkText, type Range } from './chunk-text.ts';
import { SEGMENT_FIELDS } from './fields.ts';
import { loadTokenizer, type Token } from './tokenize.ts';

async function segment({ body, query, reply }: CompatCall): Promise<unknown> {
  const asked = readFields(SEGMENT_FIELDS, { ...(body as object), ...query });
  const { content, tokenizer, head, tail } = asked;
  if (head !== undefined && tail !== undefined) {
    throw problem('ParamValidationError', { path: 'tail', message: 'head and tail cannot be sent together' });
  }
  const tokenize = await loadTokenizer(tokenizer);
  const tokens = tokenize(content);
  const [start, end] = keptRange(tokens, content.length, head, tail);
  const chunks = asked.return_chunks
    ? chunkText(content.slice(start, end), asked.max_chunk_length).map(
        ([from, to]): Range => [start + from, start + to],
      )
    : undefined;
  const textOf = ([from, to]: Range) => content.slice(from, to);
  return sendJson(reply, {
    num_tokens: countIds(tokens),
    tokenizer,
    usage: { tokens: 0 },
    ...(chunks && { num_chunks: chunks.length, chunk_positions: chunks, chunks: chunks.map(textOf) }),
    ...(asked.return_tokens && { tokens: (chunks ?? [[start, end]]).map((range) => tokenize(textOf(range as Range))) }),
  });
}

const countIds = (tokens: readonly Token[]): number => tokens.reduce((sum, [, ids]) => sum + ids.length, 0);

/** The range of the text that the first or the last tokens cover. */
function keptRange(
  tokens: readonly Token[],
  length: number,
  head: number | undefined,
  tail: number | undefined,
): Range {
  const lengthOf = (kept: readonly Token[]) => kept.reduce((sum, [text]) => sum + text.length, 0);
  if (head !== undefined) return [0, lengthOf(tokens.slice(0, head))];
  if (tail !== undefined) return [length - lengthOf(tokens.slice(-tail)), length];
  return [0, length];
}

const route = (method: 'GET' | 'POST'): CompatRoute => ({
  method,
  url: '/v1/segment',
  access: 'read',
  summary: 'Counts the tokens of a text, and returns its tokens and chunks if asked.',
  fields: SEGMENT_FIELDS,
  handler: segment,
});

export const segmenter: Dialect = {
  name: 'segmenter',
  title: 'Segmenter',
  keyPlaces: ['bearer'],
  writeError: (failure, _, reply) => sendJson(reply.code(failure.code), plainError(failure)),
  routes: [route('GET'), route('POST')],
};
