// Calls a model host through published clients in the way that their users do. Arguments: the URL of the host, an API
// key, the URL of a host that recognizes text in pictures, and a picture. Prints the results as JSON. This is a
// separate program because the clients are not dependencies of Lectern.

import { readFile } from 'node:fs/promises';
import { MemoryVectorStore } from '@langchain/classic/vectorstores/memory';
import { JinaEmbeddings } from '@langchain/community/embeddings/jina';
import { Document } from '@langchain/core/documents';
import { TextNode } from '@llamaindex/core/schema';
import { JinaAIEmbedding } from '@llamaindex/jinaai';
import { JinaAIReranker } from 'llamaindex/postprocessors/rerankers/JinaAIReranker';
import OpenAI from 'openai';

const [, , baseUrl, key, readingUrl, picture] = process.argv;

// The LlamaIndex reranker has a fixed URL, so requests to other origins are redirected to the same path on our host.
const realFetch = globalThis.fetch;
globalThis.fetch = (address, init) => {
  const { origin, pathname, search } = new URL(address instanceof Request ? address.url : address);
  return realFetch(origin === baseUrl || origin === readingUrl ? address : new URL(pathname + search, baseUrl), init);
};

const TEXTS = ['The river crosses four districts.', 'Tap water in the city is safe to drink.', ''];
const failure = async (work) => {
  try {
    await work();
  } catch (error) {
    return { message: error.message, status: error.status };
  }
  return undefined;
};

async function openai() {
  const client = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: key, maxRetries: 0 });
  const model = 'text-embedding-3-small';
  // This client requests base64 by default and decodes it.
  const standard = await client.embeddings.create({ model, input: TEXTS, user: 'somebody' });
  const floats = await client.embeddings.create({ model, input: TEXTS, encoding_format: 'float' });
  const short = await client.embeddings.create({ model, input: TEXTS[0], dimensions: 256 });
  const models = [];
  for await (const { id } of client.models.list()) models.push(id);
  const stranger = new OpenAI({ baseURL: `${baseUrl}/v1`, apiKey: 'not-a-key', maxRetries: 0 });
  return {
    standard: { ...standard, data: standard.data.map(({ embedding }) => [...embedding]) },
    floats: floats.data.map(({ embedding }) => embedding),
    short: [...short.data[0].embedding],
    models,
    one: (await client.models.retrieve('lectern-static-v2')).id,
    badKey: await failure(() => stranger.embeddings.create({ model, input: 'x' })),
    badModel: await failure(() => client.embeddings.create({ model: 'no-such-model', input: 'x' })),
    tokenIds: await failure(() => client.embeddings.create({ model, input: [[1, 2, 3]] })),
  };
}

async function reading() {
  const client = new OpenAI({ baseURL: `${readingUrl}/v1`, apiKey: key, maxRetries: 0 });
  const url = `data:image/png;base64,${(await readFile(picture)).toString('base64')}`;
  const request = {
    model: 'svc-ocr-v1',
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Transcribe this page.' },
          { type: 'image_url', image_url: { url } },
        ],
      },
    ],
  };
  const whole = await client.chat.completions.create(request);
  const stream = await client.chat.completions.create({
    ...request,
    stream: true,
    stream_options: { include_usage: true },
  });
  const streamed = { text: '', pieces: 0, finish: undefined, usage: undefined };
  for await (const { choices, usage } of stream) {
    const [choice] = choices;
    streamed.text += choice?.delta.content ?? '';
    if (choice?.delta.content) streamed.pieces++;
    streamed.finish = choice?.finish_reason ?? streamed.finish;
    streamed.usage = usage ?? streamed.usage;
  }
  return {
    whole,
    streamed,
    noImage: await failure(() =>
      client.chat.completions.create({ model: 'svc-ocr-v1', messages: [{ role: 'user', content: 'Hello' }] }),
    ),
  };
}

async function langchain() {
  const made = (options) =>
    Object.assign(new JinaEmbeddings({ apiKey: key, ...options }), { baseUrl: `${baseUrl}/v1/embeddings` });
  const embeddings = made({ batchSize: 2 });
  const store = await MemoryVectorStore.fromDocuments(
    TEXTS.slice(0, 2).map((pageContent) => new Document({ pageContent })),
    made({ model: 'jina-embeddings-v3' }),
  );
  const found = await store.similaritySearch('drink tap water', 1);
  return {
    documents: await embeddings.embedDocuments(TEXTS),
    query: await embeddings.embedQuery('water'),
    found: found.map(({ pageContent }) => pageContent),
    badModel: await failure(() => made({ model: 'no-such-model' }).embedQuery('x')),
  };
}

async function llamaindex() {
  const embedding = new JinaAIEmbedding({
    apiKey: key,
    baseURL: `${baseUrl}/v1/embeddings`,
    task: 'retrieval.passage',
  });
  process.env.JINAAI_API_KEY = key;
  const reranker = new JinaAIReranker({ topN: 2 });
  const nodes = TEXTS.map((text) => ({ node: new TextNode({ text }) }));
  const ranked = await reranker.postprocessNodes(nodes, 'Is the tap water safe?');
  return {
    one: await embedding.getTextEmbedding(TEXTS[0]),
    several: await embedding.getTextEmbeddings(TEXTS),
    ranked: ranked.map(({ node, score }) => ({ text: node.text, score })),
  };
}

process.stdout.write(
  JSON.stringify({
    openai: await openai(),
    reading: await reading(),
    langchain: await langchain(),
    llamaindex: await llamaindex(),
  }),
);
