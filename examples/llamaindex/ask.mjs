// LlamaIndex keeps documents by their vectors and finds what a question is about: `baseURL` is Lectern's.
import { JinaAIEmbedding } from '@llamaindex/jinaai';
import { Document, Settings, VectorStoreIndex } from 'llamaindex';

Settings.embedModel = new JinaAIEmbedding({
  baseURL: 'http://localhost:3002/v1/embeddings',
  apiKey: process.env.LECTERN_API_KEY,
  model: 'lectern-static-v1',
});

// The reader's text of each address given, else two of our own.
const read = async (address) => (await fetch(`http://localhost:3000/${address}`)).text();
const [question = 'How do bees find home?', ...addresses] = process.argv.slice(2);
const texts = addresses.length
  ? await Promise.all(addresses.map(read))
  : ['Bees find their way home by the sun.', 'Green tea is made from leaves that were not oxidised.'];

const index = await VectorStoreIndex.fromDocuments(texts.map((text) => new Document({ text })));
const found = await index.asRetriever({ similarityTopK: 1 }).retrieve({ query: question });
for (const { node, score } of found) console.log(`${score.toFixed(3)}  ${node.getContent('none').trim()}`);
