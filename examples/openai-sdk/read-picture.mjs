// Recognizes the text of an image through the chat completions of the OpenAI SDK.
import { readFile } from 'node:fs/promises';
import OpenAI from 'openai';

const client = new OpenAI({
  baseURL: 'http://localhost:3002/v1',
  apiKey: process.env.LECTERN_API_KEY,
});
const picture = await readFile(process.argv[2] ?? 'page.png');
const url = `data:image/png;base64,${picture.toString('base64')}`;

const stream = await client.chat.completions.create({
  model: 'lectern-ocr',
  messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }],
  stream: true,
});
for await (const { choices } of stream) process.stdout.write(choices[0]?.delta.content ?? '');
process.stdout.write('\n');
