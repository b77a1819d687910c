/** Cohere's API version 2 (https://docs.cohere.com/reference/embed, /reference/rerank) and compatible servers. */
import { countOf, fieldsOf, listOf } from './fields.ts';
import type { Protocol, Reply } from './protocol.ts';
import { parseReranked } from './reranked.ts';

/** `input_type` is required; everything except a query is sent as a document. */
function inputType(task = ''): string {
  if (task === 'query' || task.endsWith('.query')) return 'search_query';
  if (task === 'classification') return task;
  return task === 'separation' || task === 'clustering' ? 'clustering' : 'search_document';
}

function billedTokens({ body }: Reply): number | undefined {
  const { billed_units: billed } = fieldsOf(fieldsOf(body).meta);
  return countOf(fieldsOf(billed).input_tokens);
}

const pictureInput = (uri: string) => ({ content: [{ type: 'image_url', image_url: { url: uri } }] });

export const COHERE: Protocol = {
  address: 'root',
  limits: { inputs: 96, tokens: 100_000 },
  parallel: 4,
  truncates: true,
  tasks: true,
  embed: {
    base64: false,
    silent: false,
    outputs: ['pooled'],
    lateChunking: false,
    media: ['image'],
    request: ({ model, texts, media, task, truncate, dimensions }) => ({
      path: '/v2/embed',
      body: {
        model,
        ...(media ? { inputs: media.uris.map(pictureInput) } : { texts }),
        input_type: inputType(task),
        embedding_types: ['float'],
        truncate: truncate ? 'END' : 'NONE',
        ...(dimensions !== undefined && { output_dimension: dimensions }),
      },
    }),
    parse: (reply) => {
      const { float } = fieldsOf(fieldsOf(reply.body).embeddings);
      return { rows: listOf(float, 'embeddings').map((value) => ({ value })), tokens: billedTokens(reply) };
    },
  },
  rerank: {
    silent: true,
    windows: false,
    cosines: false,
    request: ({ model, query, documents, contextTokens }) => ({
      path: '/v2/rerank',
      // Without this field, the server truncates documents at 4,096 tokens, even if the model supports more.
      body: { model, query, documents, top_n: documents.length, max_tokens_per_doc: contextTokens },
    }),
    parse: parseReranked,
  },
};
