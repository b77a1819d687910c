/** Tests requests with pictures to model servers, in the format of each protocol. */
// Full run only: changes state of the whole process.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import type { ReadyMedium } from '../backend.ts';
import { closeFetchAfterAll, embedderAt, NEVER, type ProtocolName, runsAt } from './remote.suite.ts';

closeFetchAfterAll();

interface Sent {
  readonly path: string;
  readonly body: Record<string, unknown>;
}

const vector = (at: number) => Array.from({ length: 16 }, (_, index) => (index === at ? 1 : 0.5));

/** Starts a server that returns a vector for each input in the format of the protocol, and records its requests. */
async function startServer(protocol: ProtocolName): Promise<{ url: string; sent: Sent[] }> {
  const sent: Sent[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Record<string, unknown>;
    sent.push({ path: request.url!, body });
    const count = ((body.input ?? body.inputs) as unknown[]).length;
    const vectors = Array.from({ length: count }, (_, at) => vector(at));
    const data = vectors.map((embedding, index) => ({ object: 'embedding', index, embedding }));
    const answer =
      protocol === 'cohere'
        ? { embeddings: { float: vectors } }
        : { data, usage: { prompt_tokens: 9, total_tokens: 9 } };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent };
}

const picture = (byte: number): ReadyMedium => ({
  medium: 'image',
  file: Uint8Array.of(byte, 2, 3),
  mediaType: 'image/png',
});
const URIS = [1, 9].map((byte) => `data:image/png;base64,${Buffer.from([byte, 2, 3]).toString('base64')}`);

it.each([
  ['lectern', '/v1/embeddings', { input: URIS.map((image) => ({ image })) }],
  ['openai', '/v1/embeddings', { input: URIS.map((image) => ({ image })) }],
  ['infinity', '/embeddings', { input: URIS, modality: 'image' }],
  [
    'cohere',
    '/v2/embed',
    {
      inputs: URIS.map((url) => ({ content: [{ type: 'image_url', image_url: { url } }] })),
      embedding_types: ['float'],
    },
  ],
] as const)('%s', async (protocol, path, body) => {
  const { url, sent } = await startServer(protocol);
  const model = embedderAt(runsAt(protocol, url), { kind: 'clip-v1' });
  onTestFinished(() => model.close());
  expect(await model.media!()).toMatchObject({ image: 'file' });
  const prepared = await model.prepareMedia!([picture(1), picture(9)], { signal: NEVER });
  const outputs = await model.embed(prepared, { output: 'pooled', dimensions: 16, signal: NEVER });
  expect(outputs.map(({ values }) => [...values])).toEqual([vector(0), vector(1)]);
  expect(sent).toHaveLength(1);
  expect(sent[0]!.path).toBe(path);
  expect(sent[0]!.body).toMatchObject(body);
  expect(sent[0]!.body).not.toHaveProperty('texts');
});

it('separates files from texts, and sends a few files at a time', async () => {
  const { url, sent } = await startServer('openai');
  const model = embedderAt(runsAt('openai', url), { kind: 'clip-v1' });
  onTestFinished(() => model.close());
  const media = await model.prepareMedia!(
    Array.from({ length: 9 }, (_, at) => picture(at)),
    { signal: NEVER },
  );
  const texts = await model.prepare(['a', 'b'], { signal: NEVER });
  const outputs = await model.embed([...media, ...texts], { output: 'pooled', dimensions: 16, signal: NEVER });
  expect(outputs).toHaveLength(11);
  const sizes = sent.map(({ body }) => (body.input as unknown[]).length);
  expect(sizes.toSorted()).toEqual([1, 2, 4, 4]);
});

it.each(['tei', 'vllm', 'ollama'] as const)('%s takes none', (protocol) => {
  const model = embedderAt(runsAt(protocol, 'http://127.0.0.1:9'), { kind: 'clip-v1' });
  expect(model.media).toBeUndefined();
});
