/** OpenAI's API: embeddings, chat completions, models, files and batches. */
import { answerChat } from '#api/models/chat-completions.ts';
import type { CompatCall, Dialect } from '../dialect.ts';
import { BATCH_FIELDS, cancelBatch, createBatch, listBatches, showBatch } from './batches.ts';
import { embeddings } from './embeddings.ts';
import { writeOpenAiError } from './errors.ts';
import { deleteFile, fileContent, listFiles, showFile, UPLOAD_FIELDS, uploadFile } from './files.ts';
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
    {
      method: 'POST',
      url: '/v1/files',
      access: 'embeddings',
      summary: 'Uploads the input of a batch.',
      fields: UPLOAD_FIELDS,
      handler: uploadFile,
    },
    { method: 'GET', url: '/v1/files', access: 'embeddings', summary: 'Lists uploaded files.', handler: listFiles },
    { method: 'GET', url: '/v1/files/:id', access: 'embeddings', summary: 'Describes a file.', handler: showFile },
    {
      method: 'GET',
      url: '/v1/files/:id/content',
      access: 'embeddings',
      summary: 'Returns the content of a file.',
      handler: fileContent,
    },
    {
      method: 'DELETE',
      url: '/v1/files/:id',
      access: 'embeddings',
      summary: 'Deletes an uploaded file.',
      handler: deleteFile,
    },
    {
      method: 'POST',
      url: '/v1/batches',
      access: 'embeddings',
      summary: 'Starts a batch of embeddings.',
      fields: BATCH_FIELDS,
      handler: createBatch,
    },
    { method: 'GET', url: '/v1/batches', access: 'embeddings', summary: 'Lists batches.', handler: listBatches },
    { method: 'GET', url: '/v1/batches/:id', access: 'embeddings', summary: 'Describes a batch.', handler: showBatch },
    {
      method: 'POST',
      url: '/v1/batches/:id/cancel',
      access: 'embeddings',
      summary: 'Cancels a batch.',
      handler: cancelBatch,
    },
  ],
};
