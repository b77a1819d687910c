/**
 * The server that bench/models-http.ts compares with: `node:http`, one request at a time through the built-in model,
 * `JSON.stringify` of arrays, no keys and no limits. It sends its port to its parent.
 */
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { finishVector } from '#models/index.ts';
import { createStaticBackends } from '#models/static/backends.ts';

const { embedder } = createStaticBackends();
await embedder.load();
const { signal } = new AbortController();
let turn: Promise<unknown> = Promise.resolve();
const server = http.createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request.setEncoding('utf8')) body += chunk;
  const { input, dimensions } = JSON.parse(body) as { input: string[]; dimensions: number };
  const work = turn.then(async () => {
    const prepared = await embedder.prepare(input, { signal });
    const outputs = await embedder.embed(prepared, { output: 'pooled', dimensions, signal });
    const total_tokens = prepared.reduce((sum, { tokens }) => sum + tokens, 0);
    const data = outputs.map((output, index) => ({
      object: 'embedding',
      index,
      embedding: [...finishVector(output.values, { dimensions, normalized: true })],
    }));
    return JSON.stringify({ object: 'list', usage: { total_tokens, prompt_tokens: total_tokens }, data });
  });
  turn = work;
  response.setHeader('content-type', 'application/json').end(await work);
});
await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
process.send!((server.address() as AddressInfo).port);
