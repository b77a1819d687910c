/** Chat completions by models on remote servers: transcription of pages, questions about pages, and conversations. */
import { expect, it, onTestFinished } from 'vitest';
import { type RecordedRequest, type Reply, startChatServer } from '#models/chat/chat-server.suite.ts';
import { createModels, modelNames } from '#models/index.ts';
import { createTrustedFetch } from '#net/trusted.ts';
import { drawnPage } from '#ocr/drawn-pages.suite.ts';
import { createLog } from '#telemetry/log.ts';
import { startChatHost } from '../support/chat-host.ts';

const LONG = 120_000;
const picture = drawnPage({ width: 600, height: 400 }, (context) => context.fillRect(20, 20, 100, 100));
const image = {
  type: 'image_url',
  image_url: { url: `data:image/png;base64,${picture.toString('base64')}` },
};

/** A model host whose model server responds with the given function. */
async function start(
  rule: (request: RecordedRequest, index: number) => Reply | Promise<Reply>,
  settings: Record<string, string> = {},
  tesseract = 'none',
) {
  const server = await startChatServer(rule);
  const trusted = createTrustedFetch({ region: 'any', euHosts: [], log: createLog('silent') });
  const config = { chatUrl: server.url, chatModel: 'some/talker', modelTimeoutMs: 60_000, ...settings } as Parameters<
    typeof createModels
  >[0];
  const host = await startChatHost({
    models: createModels(config, { fetch: trusted }),
    names: modelNames(config),
    tesseract,
  });
  onTestFinished(async () => {
    await host.close();
    await trusted.close();
  });
  const ask = (content: unknown, more: object = {}) =>
    host.post('/v1/chat/completions', { model: 'talker', messages: [{ role: 'user', content }], ...more });
  return { host, server, ask };
}

type Parts = readonly { type: string; text?: string; image_url?: { url: string } }[];
const partsOf = ({ messages }: RecordedRequest) => messages[0]!.content as Parts;

it(
  "transcribes each page separately, with our prompt or the caller's, and strips fences and thoughts",
  async () => {
    const { server, ask } = await start(
      (_, index) => `<think>hm\n</think>\n\`\`\`markdown\n# Page ${index + 1}\n\`\`\``,
    );
    const { status, body } = await ask([image, image]);
    expect(status).toBe(200);
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: '# Page 1\n\n---\n\n# Page 2' },
    });
    expect(body.model).toBe('talker');
    // The model server reports 11 and 7 tokens for each page.
    expect(body.usage).toEqual({ prompt_tokens: 22, completion_tokens: 14, total_tokens: 36 });
    const [text, shown] = partsOf(server.requests[0]!);
    expect(text!.text).toMatch(/^Write down all text in this picture as Markdown/);
    expect(shown!.image_url!.url).toMatch(/^data:image\/png;base64,/);
    await ask([{ type: 'text', text: 'Please transcribe the page' }, image]);
    expect(partsOf(server.requests[2]!)[0]!.text).toBe('Please transcribe the page');
    await ask([image], { output_format: 'text' });
    expect(partsOf(server.requests[3]!)[0]!.text).toMatch(/plain text/);
  },
  LONG,
);

it(
  'sends all pictures in one request for other tasks, and returns the answer unchanged',
  async () => {
    const { server, ask } = await start(() => '```json\n{"same": true}\n```');
    const { body } = await ask([{ type: 'text', text: 'Compare these two.' }, image, image]);
    expect(body.choices[0].message.content).toBe('```json\n{"same": true}\n```');
    expect(partsOf(server.requests[0]!).map(({ type }) => type)).toEqual(['text', 'image_url', 'image_url']);
  },
  LONG,
);

it(
  'prompts text recognition models with the prompt they were trained with',
  async () => {
    const { server, ask } = await start(() => 'read', { ocrModel: 'deepseek-ai/DeepSeek-OCR' });
    for (const model of ['svc-ocr', 'deepseek-ai/DeepSeek-OCR', 'jina-vlm', 'lectern-ocr']) {
      const { status } = await ask([image], { model });
      expect([model, status]).toEqual([model, model === 'lectern-ocr' ? 400 : 200]);
    }
    expect(server.requests.map(({ model }) => model)).toEqual([
      'deepseek-ai/DeepSeek-OCR',
      'deepseek-ai/DeepSeek-OCR',
      'some/talker',
    ]);
    expect(partsOf(server.requests[0]!)[0]!.text).toBe('Convert the document to markdown.');
  },
  LONG,
);

it(
  'refuses to return boxes',
  async () => {
    const { server, ask } = await start(() => 'never');
    const { status, body } = await ask([image], { output_format: 'json' });
    expect([status, body.error.param]).toEqual([400, 'output_format']);
    expect(server.requests).toEqual([]);
  },
  LONG,
);

it(
  'forwards a conversation with its parameters, whole and streamed',
  async () => {
    const { host, server } = await start(() => ({ text: 'Rivers run to the sea.', finish: 'length' }));
    const messages = [
      { role: 'developer', content: 'Be brief.' },
      { role: 'user', content: 'Hello' },
      { role: 'assistant', content: 'Hi' },
      { role: 'user', content: [{ type: 'text', text: 'Where do rivers run?' }] },
    ];
    const more = { model: 'talker', messages, temperature: 0.5, seed: 7, stop: 'END', max_tokens: 9 };
    const { body } = await host.post('/v1/chat/completions', more);
    expect(body.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Rivers run to the sea.' } });
    expect(body.usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
    expect(host.charges.at(-1)).toMatchObject({ tokens: 18, model: 'some/talker' });
    expect(server.requests[0]).toMatchObject({
      temperature: 0.5,
      seed: 7,
      stop: ['END'],
      max_tokens: 9,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi' },
        { role: 'user', content: 'Where do rivers run?' },
      ],
    });
    const { events } = await host.stream({ ...more, stop: undefined, stream_options: { include_usage: true } });
    const chunks = events.slice(0, -1).map((event) => JSON.parse(event.replace(/^data: /, '')));
    const text = chunks.flatMap(({ choices }) => choices).map(({ delta }) => delta.content ?? '');
    expect(text.join('')).toBe('Rivers run to the sea.');
    expect(text.length).toBeGreaterThan(4);
    expect(chunks.at(-1).usage).toEqual({ prompt_tokens: 11, completion_tokens: 7, total_tokens: 18 });
  },
  LONG,
);

it(
  'answers questions without a picture even if Tesseract reads pictures',
  async () => {
    const { ask } = await start(() => 'By the sea.', {}, 'tesseract.js');
    for (const model of ['lectern-ocr', 'svc-ocr-v1']) {
      const { status, body } = await ask('Where do rivers end?', { model });
      expect([status, body.model, body.choices?.[0].message.content]).toEqual([200, model, 'By the sea.']);
    }
  },
  LONG,
);

it(
  'streams a page as the model writes it, without its fence',
  async () => {
    const { host } = await start(() => '```markdown\n# Title\n\nSome words of a page.\n```\n');
    const { events } = await host.stream({ model: 'talker', messages: [{ role: 'user', content: [image] }] });
    const text = events
      .slice(0, -1)
      .flatMap((event) => JSON.parse(event.replace(/^data: /, '')).choices)
      .map(({ delta }) => delta.content ?? '');
    expect(text.join('')).toBe('# Title\n\nSome words of a page.');
    expect(text.filter(Boolean).length).toBeGreaterThan(2);
  },
  LONG,
);

it(
  'reports failures as a status before the first chunk, in the stream after it',
  async () => {
    const half = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: 'half' } }] })}\n\n`;
    const { host, ask } = await start((_, index) =>
      index < 2
        ? { status: 503, headers: { 'retry-after': '7' } }
        : { raw: [half], type: 'text/event-stream', after: 'destroy' },
    );
    const { status, headers, body } = await ask('Hello');
    expect([status, headers.get('retry-after')]).toEqual([503, '7']);
    expect(body.error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', type: 'server_error', param: null });
    const messages = [{ role: 'user', content: 'Hello' }];
    expect((await host.stream({ model: 'talker', messages })).status).toBe(503);
    const { status: streamStatus, events } = await host.stream({ model: 'talker', messages });
    expect(streamStatus).toBe(200);
    expect(events.join('\n')).toContain('half');
    expect(JSON.parse(events.at(-1)!.replace(/^data: /, ''))).toMatchObject({
      error: { type: 'server_error', code: 'SERVICE_UNAVAILABLE', request_id: expect.stringMatching(/^[0-9a-f]{32}$/) },
    });
    expect(host.charges.at(-1)).toMatchObject({ tokens: 0 });
  },
  LONG,
);

it(
  'aborts the model request when the caller disconnects',
  async () => {
    const { host, server } = await start(() => ({ raw: '', type: 'text/event-stream', after: 'silence' }));
    const disconnect = new AbortController();
    const request = fetch(`${host.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: 'Bearer test-key' },
      body: JSON.stringify({ model: 'talker', messages: [{ role: 'user', content: 'x' }], stream: true }),
      signal: disconnect.signal,
    }).catch((error: Error) => error.name);
    await expect.poll(() => server.open(), { timeout: 20_000 }).toBe(1);
    disconnect.abort();
    expect(await request).toBe('AbortError');
    await expect.poll(() => server.open(), { timeout: 20_000 }).toBe(0);
  },
  LONG,
);
