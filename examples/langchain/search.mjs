import { MemoryVectorStore } from '@langchain/classic/vectorstores/memory';
import { Document } from '@langchain/core/documents';
import { OpenAIEmbeddings } from '@langchain/openai';
import { RecursiveCharacterTextSplitter } from '@langchain/textsplitters';

const embeddings = new OpenAIEmbeddings({
  model: 'text-embedding-3-small',
  configuration: { baseURL: 'http://localhost:3002/v1' },
});

const manual = new Document({
  pageContent: `Fill the tank with cold water up to the line. Never use hot water.

Descale the machine once a month: a spoon of citric acid in a full tank, and two tanks of clear water after it.

A red light means that the tank is empty. A yellow light means that the machine has to be descaled.`,
  metadata: { source: 'manual' },
});

const splitter = new RecursiveCharacterTextSplitter({ chunkSize: 120, chunkOverlap: 0 });
const store = await MemoryVectorStore.fromDocuments(await splitter.splitDocuments([manual]), embeddings);

const [best] = await store.similaritySearch(process.argv[2] ?? 'What does the yellow light mean?', 1);
console.log(best.pageContent);
