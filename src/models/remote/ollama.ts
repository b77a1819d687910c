/** Ollama (https://docs.ollama.com/api/embed). It does not support reranking. */
import { countOf, fieldsOf, listOf } from './fields.ts';
import type { Protocol } from './protocol.ts';

export const OLLAMA: Protocol = {
  address: 'root',
  limits: { inputs: 256, tokens: 100_000 },
  parallel: 2,
  truncates: true,
  tasks: false,
  embed: {
    base64: false,
    silent: false,
    outputs: ['pooled'],
    lateChunking: false,
    request: ({ model, texts, truncate, dimensions }) => ({
      path: '/api/embed',
      body: { model, input: texts, truncate, ...(dimensions !== undefined && { dimensions }) },
    }),
    parse: ({ body }) => {
      const { embeddings, prompt_eval_count: tokens } = fieldsOf(body);
      return { rows: listOf(embeddings, 'embeddings').map((value) => ({ value })), tokens: countOf(tokens) };
    },
  },
};
