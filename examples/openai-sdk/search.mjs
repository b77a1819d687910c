// A question and the text that answers it, by the OpenAI SDK: only `baseURL` is Lectern's.
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: 'http://localhost:3002/v1',
  apiKey: process.env.LECTERN_API_KEY,
});
const model = 'lectern-static-v1';

const texts = [
  'Bees find their way home by the sun and by landmarks that they have learnt.',
  'Green tea is made from leaves that were not oxidised.',
  'A pendulum keeps time because each of its swings takes equally long.',
];
const question = process.argv[2] ?? 'What is green tea made from?';

const { data } = await client.embeddings.create({ model, input: [question, ...texts] });
const [asked, ...given] = data.map(({ embedding }) => embedding);

// Vectors have unit length: their product is the cosine.
const nearness = given.map((vector) => vector.reduce((sum, value, at) => sum + value * asked[at], 0));
const best = nearness.indexOf(Math.max(...nearness));
console.log(`${nearness[best].toFixed(3)}  ${texts[best]}`);
