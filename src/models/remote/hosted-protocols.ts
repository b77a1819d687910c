/** Protocols of hosted services: OpenAI, Cohere and Lectern, and of servers that offer the same APIs. */
import { countOf, fieldsOf, listOf } from './answers.ts';
import type { EmbedAnswer, Protocol, RemoteEmbedRequest, Reply, RerankRow } from './protocol.ts';

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

/** Parses the rerank response format shared by Cohere, vLLM, Infinity and Lectern. */
export const parseReranked = ({ body }: Reply): readonly RerankRow[] =>
  listOf(fieldsOf(body).results, 'results').map((entry) => {
    const { index, relevance_score: score } = fieldsOf(entry);
    return { index, score };
  });

/**
 * Embeddings through OpenAI's API, which most servers implement
 * (https://platform.openai.com/docs/api-reference/embeddings).
 */
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

/** Cohere's API version 2 (https://docs.cohere.com/reference/embed, /reference/rerank). */
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

const sideOf = (task: string): string => (task === 'query' || task.endsWith('.query') ? 'query' : 'document');

function parseLectern({ body }: Reply): EmbedAnswer {
  const { data, usage } = fieldsOf(body);
  const rows = listOf(data, 'embeddings').map((entry) => {
    const { index, embedding, embeddings, tokenized_input: pieces } = fieldsOf(entry);
    return { index, value: embeddings ?? embedding, pieces };
  });
  return { rows, tokens: countOf(fieldsOf(usage).total_tokens) };
}

/** Another Lectern server, or a hosted service with the same API. */
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
    parse: parseLectern,
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
