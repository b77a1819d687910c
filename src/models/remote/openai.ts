/**
 * Embeddings through OpenAI's API, which most servers implement
 * (https://platform.openai.com/docs/api-reference/embeddings).
 */
import { countOf, fieldsOf, listOf } from './fields.ts';
import type { EmbedAnswer, Protocol, RemoteEmbedRequest, Reply } from './protocol.ts';

/** Images are sent as `{image}`, the form used by Jina's API and compatible servers. */
export const embeddingBody = ({ model, texts, media, dimensions, base64 }: RemoteEmbedRequest) => ({
  model,
  input: media ? media.uris.map((uri) => ({ [media.medium]: uri })) : texts,
  encoding_format: base64 ? 'base64' : 'float',
  ...(dimensions !== undefined && { dimensions }),
});

export function parseEmbeddings({ body }: Reply): EmbedAnswer {
  const { data, usage } = fieldsOf(body);
  const { prompt_tokens: prompt, total_tokens: total } = fieldsOf(usage);
  const rows = listOf(data, 'embeddings').map((entry) => {
    const { index, embedding } = fieldsOf(entry);
    return { index, value: embedding };
  });
  return { rows, tokens: countOf(prompt) ?? countOf(total) };
}

export const OPENAI: Protocol = {
  address: 'versioned',
  limits: { inputs: 2_048, tokens: 250_000 },
  parallel: 8,
  truncates: false,
  tasks: false,
  embed: {
    base64: true,
    silent: false,
    outputs: ['pooled'],
    lateChunking: false,
    media: ['image'],
    request: (ask) => ({ path: '/embeddings', body: embeddingBody(ask) }),
    parse: parseEmbeddings,
  },
};
