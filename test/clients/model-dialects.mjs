// Calls the dialects of model servers through published clients in the way that their users do. Arguments: the URL of
// the compat host and an API key. Prints the results as JSON.

import { InferenceClient } from '@huggingface/inference';
import { CohereEmbeddings, CohereRerank } from '@langchain/cohere';
import { HuggingFaceInferenceEmbeddings } from '@langchain/community/embeddings/hf';
import { VoyageEmbeddings } from '@langchain/community/embeddings/voyage';
import { Document } from '@langchain/core/documents';
import { OllamaEmbeddings } from '@langchain/ollama';
import { OllamaEmbedding } from '@llamaindex/ollama';
import { CohereClient, CohereClientV2 } from 'cohere-ai';
import { Ollama } from 'ollama';
import OpenAI, { toFile } from 'openai';
import { VoyageAIClient } from 'voyageai';

const [, , url, key] = process.argv;

const EMBEDDER = 'lectern-static-v2';
const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.'];
const QUERY = 'Is the tap water safe?';
const failure = async (work) => {
  try {
    await work();
  } catch (error) {
    return { message: error.message, status: error.status ?? error.statusCode ?? error.status_code };
  }
  return undefined;
};
const documents = () => TEXTS.map((pageContent) => new Document({ pageContent }));

async function ollama() {
  const client = new Ollama({ host: url, headers: { Authorization: `Bearer ${key}` } });
  const { embeddings, model } = await client.embed({ model: EMBEDDER, input: TEXTS, keep_alive: '5m' });
  const { models } = await client.list();
  const shown = await client.show({ model: EMBEDDER });
  const langchain = new OllamaEmbeddings({
    baseUrl: url,
    model: EMBEDDER,
    headers: { Authorization: `Bearer ${key}` },
  });
  return {
    embeddings,
    model,
    old: (await client.embeddings({ model: EMBEDDER, prompt: TEXTS[0] })).embedding,
    models: models.map(({ name }) => name),
    capabilities: shown.capabilities,
    version: (await client.version()).version,
    running: (await client.ps()).models.length,
    pulled: (await client.pull({ model: EMBEDDER })).status,
    badModel: await failure(() => client.embed({ model: 'nomic-embed-text', input: 'x' })),
    langchain: await langchain.embedDocuments(TEXTS),
    langchainQuery: await langchain.embedQuery(TEXTS[0]),
    llamaIndex: await new OllamaEmbedding({
      model: EMBEDDER,
      config: { host: url, headers: { Authorization: `Bearer ${key}` } },
    }).getTextEmbeddings(TEXTS),
  };
}

async function cohere() {
  const options = { token: key, environment: url };
  const first = new CohereClient(options);
  const second = new CohereClientV2(options);
  const texts = TEXTS;
  const asked = { model: 'embed-v4.0', texts, inputType: 'search_document' };
  const ranked = { model: 'rerank-v3.5', query: QUERY, documents: texts, topN: 2 };
  const reranker = new CohereRerank({ client: first, model: 'rerank-english-v3.0', topN: 1 });
  const compressed = await reranker.compressDocuments(documents(), QUERY);
  return {
    first: (await first.embed(asked)).embeddings,
    firstTypes: (await first.embed({ ...asked, embeddingTypes: ['int8', 'ubinary'] })).embeddings,
    second: await second.embed({ ...asked, embeddingTypes: ['float', 'int8'] }),
    ranked: await first.rerank({ ...ranked, returnDocuments: true }),
    rankedBySecond: await second.rerank(ranked),
    tokens: (await first.tokenize({ model: EMBEDDER, text: 'safe water' })).tokenStrings,
    models: (await first.models.list()).models.map(({ name }) => name),
    valid: (await first.checkApiKey()).valid,
    badKey: await failure(() =>
      new CohereClientV2({ ...options, token: 'wrong' }).embed({ ...asked, embeddingTypes: ['float'] }),
    ),
    badModel: await failure(() => second.rerank({ ...ranked, model: 'none' })),
    langchain: await new CohereEmbeddings({ client: first, model: 'embed-v4.0' }).embedDocuments(TEXTS),
    langchainRanked: compressed.map(({ pageContent }) => pageContent),
  };
}

async function tei() {
  const endpoint = new InferenceClient(key).endpoint(`${url}/for/tei/${EMBEDDER}`);
  const langchain = new HuggingFaceInferenceEmbeddings({ apiKey: key, model: EMBEDDER, endpointUrl: url });
  return {
    endpoint: await endpoint.featureExtraction({ inputs: TEXTS }),
    similarity: await endpoint.sentenceSimilarity({ inputs: { source_sentence: TEXTS[0], sentences: TEXTS } }),
    langchain: await langchain.embedDocuments(TEXTS),
  };
}

async function voyage() {
  const client = new VoyageAIClient({ apiKey: key, environment: `${url}/v1` });
  const langchain = Object.assign(new VoyageEmbeddings({ apiKey: key, modelName: 'voyage-3.5' }), {
    apiUrl: `${url}/v1/embeddings`,
  });
  return {
    embedded: await client.embed({ model: 'voyage-3.5', input: TEXTS, inputType: 'document' }),
    ranked: await client.rerank({ model: 'rerank-2.5', query: QUERY, documents: TEXTS, topK: 1 }),
    multimodal: await client.multimodalEmbed({
      model: 'voyage-multimodal-3',
      inputs: [{ content: [{ type: 'text', text: TEXTS[0] }] }],
    }),
    badModel: await failure(() => client.embed({ model: 'voyage-none', input: 'x' })),
    langchain: await langchain.embedDocuments(TEXTS),
  };
}

async function openai() {
  const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: key, maxRetries: 0 });
  const model = 'text-embedding-3-small';
  const lines = TEXTS.map((input, at) =>
    JSON.stringify({ custom_id: `n${at}`, method: 'POST', url: '/v1/embeddings', body: { model, input } }),
  );
  const content = await toFile(Buffer.from(lines.join('\n')), 'lines.jsonl');
  const file = await client.files.create({ file: content, purpose: 'batch' });
  const started = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/embeddings',
    completion_window: '24h',
    metadata: { night: 'one' },
  });
  let batch = started;
  while (!['completed', 'failed', 'expired', 'cancelled'].includes(batch.status)) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    batch = await client.batches.retrieve(started.id);
  }
  const output = await (await client.files.content(batch.output_file_id)).text();
  const files = [];
  for await (const { id } of client.files.list({ limit: 1 })) files.push(id);
  const batches = [];
  for await (const { id } of client.batches.list({ limit: 1 })) batches.push(id);
  const cancelled = await client.batches.cancel(started.id);
  const tokenIds = await client.embeddings.create({ model, input: [[791, 15140]], encoding_format: 'float' });
  return {
    file,
    batch,
    output: output
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line)),
    files,
    batches,
    cancelled: cancelled.status,
    retrieved: (await client.files.retrieve(file.id)).filename,
    deleted: (await client.files.delete(file.id)).deleted,
    gone: await failure(() => client.files.retrieve(file.id)),
    tokenIds: tokenIds.data[0].embedding,
    badBatch: await failure(() =>
      client.batches.create({ input_file_id: 'none', endpoint: '/v1/embeddings', completion_window: '24h' }),
    ),
  };
}

const result = {
  ollama: await ollama(),
  cohere: await cohere(),
  tei: await tei(),
  voyage: await voyage(),
  openai: await openai(),
};
// Some clients print lines of their own. The result is the last line.
process.stdout.write(`\n${JSON.stringify(result)}`);
