/** OpenAI's API: embeddings, chat completions, models, files and batches. */
import { answerChat } from '#api/models/chat-completions.ts';
import type { CompatCall, Dialect } from '../dialect.ts';
import { embeddings } from './embeddings.ts';
import { writeOpenAiError } from './errors.ts';
import { listModels, showModel } from './models.ts';

export const openai: Dialect = {
  name: 'openai',
  title: 'OpenAI',
  keyPlaces: ['bearer'],
  writeError: writeOpenAiError,
  routes: [
    {
      method: 'POST',
      url: '/v1/embeddings',
      access: 'embeddings',
      summary: 'Embeds texts, token ids and media.',
      handler: (call) => embeddings(call),
    },
    {
      method: 'POST',
      url: '/v1/chat/completions',
      access: 'ocr',
      summary: 'Recognizes text in images and documents, or completes a chat.',
      handler: ({ request, reply, native: { parts } }: CompatCall) => answerChat(request, reply, parts),
    },
    { method: ['GET', 'HEAD'], url: '/v1/models', access: 'public', summary: 'Lists the models.', handler: listModels },
    {
      method: ['GET', 'HEAD'],
      url: '/v1/models/*',
      access: 'public',
      summary: 'Describes a model.',
      handler: showModel,
    },
  ],
};
