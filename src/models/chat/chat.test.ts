import { describe, expect, it } from 'vitest';
import { Problem } from '#errors.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { type Chat, type ChatRequest, createModels } from './chat.ts';
import { type ChatServer, type Reply, startChatServer } from './chat-server.suite.ts';
import { createChat } from './client.ts';

const log = { info: () => {}, warn: () => {} };
const fetch = createTrustedFetch({ region: 'any', euHosts: [], log });
const NEVER = new AbortController().signal;
const ASK: ChatRequest = { messages: [{ role: 'user', content: 'Say something' }], signal: NEVER };

const chatOf = ({ url }: Pick<ChatServer, 'url'>, more: { key?: string; timeoutMs?: number } = {}) =>
  createChat({ url, model: 'small', fetch, timeoutMs: 60_000, ...more });

const failureOf = async (work: Promise<unknown>): Promise<Problem> => {
  const error = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
};

async function streamed(chat: Chat, request = ASK) {
  let text = '';
  const pieces: string[] = [];
  let end: { complete: boolean; usage?: unknown } | undefined;
  for await (const delta of chat.stream(request)) {
    text += delta.text;
    pieces.push(delta.text);
    if ('end' in delta) end = delta.end;
  }
  return { text, pieces, end };
}

describe('an answer', () => {
  it('is the text with its token counts', async () => {
    const server = await startChatServer(() => 'Hello *there*, 你好');
    expect(await chatOf(server).complete(ASK)).toEqual({
      text: 'Hello *there*, 你好',
      usage: { promptTokens: 11, completionTokens: 7 },
      complete: true,
    });
    expect(server.requests[0]).toEqual({ model: 'small', messages: ASK.messages });
  });

  it('reports that the model was cut off', async () => {
    const server = await startChatServer(() => ({ text: 'Hel', finish: 'length' }));
    expect(await chatOf(server).complete(ASK)).toMatchObject({ complete: false });
    expect(await streamed(chatOf(server))).toMatchObject({ text: 'Hel', end: { complete: false } });
  });

  it('is streamed in pieces, however the network splits them', async () => {
    const answer = 'Größe 🏳️‍🌈 und 漢字: '.repeat(40);
    const server = await startChatServer(() => answer);
    const { text, pieces, end } = await streamed(chatOf(server));
    expect(text).toBe(answer);
    expect(pieces.length).toBeGreaterThan(20);
    expect(end).toEqual({ complete: true, usage: { promptTokens: 11, completionTokens: 7 } });
  });

  it('is accepted whole from a server that does not stream', async () => {
    const body = JSON.stringify({ choices: [{ message: { content: 'all at once' }, finish_reason: 'stop' }] });
    const server = await startChatServer(() => ({ raw: body, type: 'application/json', after: 'end' }));
    expect(await streamed(chatOf(server))).toMatchObject({ text: 'all at once', end: { complete: true } });
  });

  it('is requested with pictures, limits and a format', async () => {
    const server = await startChatServer(() => '{}');
    const picture = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } } as const;
    await chatOf(server).complete({
      messages: [{ role: 'user', content: [{ type: 'text', text: 'What?' }, picture] }],
      maxTokens: 20,
      temperature: 0,
      responseFormat: { type: 'json_schema', json_schema: { name: 'answer', schema: { type: 'object' } } },
      signal: NEVER,
    });
    expect(server.requests[0]).toMatchObject({
      max_tokens: 20,
      temperature: 0,
      response_format: { type: 'json_schema' },
    });
  });

  it('is requested again without a format that the server rejects', async () => {
    const server = await startChatServer(({ response_format }) => (response_format ? { status: 400 } : 'free'));
    const responseFormat = { type: 'json_schema', json_schema: { name: 'answer', schema: {} } } as const;
    expect(await chatOf(server).complete({ ...ASK, responseFormat })).toMatchObject({ text: 'free' });
    expect(server.requests).toHaveLength(2);
  });
});

describe('a failure', () => {
  const cases: [string, Reply, Partial<Problem> & { retryAfter?: number }][] = [
    [
      '429',
      { status: 429, headers: { 'retry-after': '17' } },
      { name: 'ServiceNodeResourceDrainError', retryAfter: 17 },
    ],
    ['503', { status: 503 }, { name: 'ServiceNodeResourceDrainError', retryAfter: 5 }],
    [
      '500',
      { status: 500 },
      { name: 'DownstreamServiceFailureError', message: 'The model server answered with status 500' },
    ],
    ['404', { status: 404 }, { name: 'DownstreamServiceFailureError' }],
    [
      'invalid JSON',
      { raw: '<html>', type: 'application/json', after: 'end' },
      { name: 'DownstreamServiceFailureError' },
    ],
    [
      'incomplete JSON',
      { raw: '{"choices":[{"mess', type: 'application/json', after: 'end' },
      { name: 'DownstreamServiceFailureError' },
    ],
    [
      'unexpected JSON',
      { raw: '{"choices":"x"}', type: 'application/json', after: 'end' },
      { name: 'DownstreamServiceFailureError' },
    ],
    ['null', { raw: 'null', type: 'application/json', after: 'end' }, { name: 'DownstreamServiceFailureError' }],
    [
      'an error in an answer',
      { raw: '{"error":{"message":"secret"}}', type: 'application/json', after: 'end' },
      { name: 'DownstreamServiceFailureError' },
    ],
    [
      'a cut connection',
      { raw: '{"choices":', type: 'application/json', after: 'destroy' },
      { name: 'DownstreamServiceFailureError' },
    ],
  ];
  it.each(cases)('has our own message: %s', async (_, reply, expected) => {
    const server = await startChatServer(() => reply);
    for (const work of [chatOf(server).complete(ASK), streamed(chatOf(server))]) {
      const { name, message, facts } = await failureOf(work);
      expect({ name, message, ...facts }).toMatchObject(expected);
      expect(message).not.toMatch(/secret|127\.0\.0\.1|http/);
    }
  });

  it('is a stream that ends before the model does', async () => {
    const event = 'data: {"choices":[{"delta":{"content":"Hel"},"finish_reason":null}]}\n\n';
    for (const after of ['end', 'destroy'] as const) {
      const server = await startChatServer(() => ({ raw: event, type: 'text/event-stream', after }));
      expect((await failureOf(streamed(chatOf(server)))).name).toBe('DownstreamServiceFailureError');
    }
  });

  it('is a key that the server rejects', async () => {
    const server = await startChatServer(() => 'welcome', { key: 'right' });
    expect(await chatOf(server, { key: 'right' }).complete(ASK)).toMatchObject({ text: 'welcome' });
    const { name, message } = await failureOf(chatOf(server, { key: 'wrong' }).complete(ASK));
    expect(name).toBe('DownstreamServiceFailureError');
    expect(message).toBe('The model server rejected the API key');
  });

  it('is an unreachable server', async () => {
    const { name, message } = await failureOf(chatOf({ url: 'http://127.0.0.1:1/v1' }).complete(ASK));
    expect(name).toBe('DownstreamServiceFailureError');
    expect(message).not.toContain('127.0.0.1');
  });

  it('is a server that stalls before or within its answer', async () => {
    for (const raw of ['', 'data: {"choices":[{"delta":{"content":"Hel"}}]}\n\n']) {
      const server = await startChatServer(() => ({ raw, type: 'text/event-stream', after: 'silence' }));
      const { name, message } = await failureOf(streamed(chatOf(server, { timeoutMs: 300 })));
      expect(name).toBe('DownstreamServiceFailureError');
      expect(message).toMatch(/did not respond/);
    }
  });

  it('is an endless answer', async () => {
    const server = await startChatServer(() => 'x'.repeat(4_100_000));
    expect((await failureOf(chatOf(server).complete(ASK))).name).toBe('DownstreamServiceFailureError');
  });

  it('is the abort reason of the caller, and closes the connection', async () => {
    const server = await startChatServer(() => new Promise<Reply>(() => {}));
    const controller = new AbortController();
    const answer = chatOf(server).complete({ ...ASK, signal: controller.signal });
    await expect.poll(() => server.requests.length).toBe(1);
    const reason = new Error('aborted');
    controller.abort(reason);
    await expect(answer).rejects.toBe(reason);
    await expect.poll(() => server.open()).toBe(0);
  });
});

it('cuts off a stream with too much text', async () => {
  const event = `data: ${JSON.stringify({ choices: [{ delta: { content: 'y'.repeat(100_000) } }] })}\n\n`;
  const server = await startChatServer(() => ({ raw: event.repeat(45), type: 'text/event-stream', after: 'silence' }));
  const { text, end } = await streamed(chatOf(server));
  expect(text.length).toBeGreaterThan(3_000_000);
  expect(text.length).toBeLessThanOrEqual(4_000_000);
  expect(end).toMatchObject({ complete: false });
});

describe('the configured models', () => {
  const base = { modelTimeoutMs: 60_000 } as Parameters<typeof createModels>[0];
  const configured = (settings: Partial<typeof base>) =>
    Object.entries(createModels({ ...base, ...settings }, { fetch })).flatMap(([name, chat]) => (chat ? [name] : []));

  it('are none without settings', () => expect(configured({})).toEqual([]));
  it('are all but text recognition if there is a chat model', () => {
    expect(configured({ chatUrl: 'http://localhost:1/v1', chatModel: 'm' })).toEqual(['chat', 'vision', 'readerlm']);
  });
  it('need a server and a model', () => {
    expect(configured({ chatUrl: 'http://localhost:1/v1' })).toEqual([]);
    expect(configured({ visionModel: 'm' })).toEqual([]);
    expect(configured({ visionModel: 'm', visionUrl: 'http://localhost:1' })).toEqual(['vision']);
  });
  it('include text recognition by a model of the same server', () => {
    expect(configured({ chatUrl: 'http://localhost:1/v1', ocrModel: 'm' })).toEqual(['ocr']);
  });

  it('use their own model, and send no key to another server', async () => {
    const one = await startChatServer(() => 'one', { key: 'k1' });
    const two = await startChatServer(() => 'two');
    const { chat, vision, readerlm } = createModels(
      { ...base, chatUrl: one.url, chatModel: 'a', chatKey: 'k1', visionUrl: two.url, readerlmModel: 'b' },
      { fetch },
    );
    expect((await chat!.complete(ASK)).text).toBe('one');
    expect((await vision!.complete(ASK)).text).toBe('two');
    expect((await readerlm!.complete(ASK)).text).toBe('one');
    expect(one.requests.map(({ model }) => model)).toEqual(['a', 'b']);
    expect(two.requests.map(({ model }) => model)).toEqual(['a']);
    expect(two.headers[0]!.authorization).toBeUndefined();
  });
});
