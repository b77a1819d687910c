/** Another Lectern server, or a hosted service with the same API. */
import { countOf, fieldsOf, listOf } from './fields.ts';
import type { EmbedAnswer, Protocol, Reply } from './protocol.ts';
import { parseReranked } from './reranked.ts';

function parse({ body }: Reply): EmbedAnswer {
  const { data, usage } = fieldsOf(body);
  const rows = listOf(data, 'embeddings').map((entry) => {
    const { index, embedding, embeddings, tokenized_input: pieces } = fieldsOf(entry);
    return { index, value: embeddings ?? embedding, pieces };
  });
  return { rows, tokens: countOf(fieldsOf(usage).total_tokens) };
}

export const LECTERN: Protocol = {
  address: 'root',
  limits: { inputs: 2_048, tokens: 250_000 },
  parallel: 4,
  truncates: true,
  tasks: true,
  embed: {
    base64: true,
    silent: false,
    outputs: ['pooled', 'tokens', 'sparse'],
    lateChunking: true,
    media: ['image', 'audio', 'video'],
    request: ({ model, kind, texts, media, task, truncate, lateChunking, output, dimensions, base64 }) => ({
      path: '/v1/embeddings',
      body: {
        model,
        input: media ? media.uris.map((uri) => ({ [media.medium]: uri })) : texts,
        truncate,
        normalized: false,
        ...(output !== 'sparse' && { embedding_type: base64 ? 'base64' : 'float' }),
        ...(task !== undefined && (kind === 'colbert' ? { input_type: sideOf(task) } : { task })),
        ...(lateChunking && { late_chunking: true }),
        // ColBERT models always return token vectors and do not accept these fields.
        ...(output === 'tokens' && kind !== 'colbert' && { return_multivector: true, return_tokenized_input: true }),
        ...(dimensions !== undefined && output === 'pooled' && { dimensions }),
      },
    }),
    parse,
  },
  rerank: {
    silent: false,
    windows: true,
    cosines: true,
    request: ({ model, query, documents, maxTokens }) => ({
      path: '/v1/rerank',
      body: {
        model,
        query,
        documents,
        top_n: documents.length,
        return_documents: false,
        ...(maxTokens === undefined && { truncation: false }),
      },
    }),
    parse: parseReranked,
  },
};

const sideOf = (task: string): string => (task === 'query' || task.endsWith('.query') ? 'query' : 'document');
