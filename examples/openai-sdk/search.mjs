// Finds the text that answers a question, using embeddings and the OpenAI SDK. Only `baseURL` is specific to Lectern.
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: 'http://localhost:3002/v1',
  apiKey: process.env.LECTERN_API_KEY,
});
const model = 'lectern-static-v2';

const texts = [
  'Bees find their way home by the sun and by landmarks that they have learned.',
  'Green tea is made from leaves that were not oxidised.',
  'A pendulum keeps time because each of its swings takes equally long.',
];
const question = process.argv[2] ?? 'What is green tea made from?';

const { data } = await client.embeddings.create({ model, input: [question, ...texts] });
const [questionVector, ...textVectors] = data.map(({ embedding }) => embedding);

// The vectors have unit length, so their dot product is the cosine similarity.
const similarities = textVectors.map((vector) =>
  vector.reduce((sum, value, at) => sum + value * questionVector[at], 0),
);
const best = similarities.indexOf(Math.max(...similarities));
console.log(`${similarities[best].toFixed(3)}  ${texts[best]}`);
