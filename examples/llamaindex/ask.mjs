// Indexes documents with LlamaIndex and searches them. The vectors come from Lectern at `baseURL`.
import { JinaAIEmbedding } from '@llamaindex/jinaai';
import { Document, Settings, VectorStoreIndex } from 'llamaindex';

Settings.embedModel = new JinaAIEmbedding({
  baseURL: 'http://localhost:3002/v1/embeddings',
  apiKey: process.env.LECTERN_API_KEY,
  model: 'lectern-static-v2',
});

// Reads the given URLs, or uses two sample texts.
const read = async (url) => (await fetch(`http://localhost:3000/${url}`)).text();
const [question = 'How do bees find home?', ...urls] = process.argv.slice(2);
const texts = urls.length
  ? await Promise.all(urls.map(read))
  : ['Bees find their way home by the sun.', 'Green tea is made from leaves that were not oxidised.'];

const index = await VectorStoreIndex.fromDocuments(texts.map((text) => new Document({ text })));
const found = await index.asRetriever({ similarityTopK: 1 }).retrieve({ query: question });
for (const { node, score } of found) console.log(`${score.toFixed(3)}  ${node.getContent('none').trim()}`);
