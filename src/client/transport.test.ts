/** The client with servers that misbehave, over real sockets. */
// Full run only: waits for time limits.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createClient, LecternError, LecternUnreachable } from './index.ts';

type Handler = (request: IncomingMessage, response: ServerResponse, turn: number) => void;

interface Peer {
  readonly url: string;
  /** `performance.now()` of each request. */
  readonly times: number[];
  readonly requests: IncomingMessage[];
  close(): Promise<void>;
}

const open: Peer[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((peer) => peer.close()));
});

async function peer(handler: Handler): Promise<Peer> {
  const times: number[] = [];
  const requests: IncomingMessage[] = [];
  const server = createServer((request, response) => {
    times.push(performance.now());
    requests.push(request);
    request.resume();
    handler(request, response, times.length);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', () => resolve()));
  const made = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    times,
    requests,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  open.push(made);
  return made;
}

const json = (response: ServerResponse, body: unknown, status = 200, headers: Record<string, string> = {}) =>
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));

const PAGE = { title: 'A', description: '', url: 'https://example.com/', content: 'x', usage: { tokens: 1 } };
const good = (response: ServerResponse) => json(response, { data: PAGE, meta: { usage: { tokens: 1 } } });
const busy = (response: ServerResponse, headers: Record<string, string> = {}) =>
  json(response, { data: null, code: 503, status: 50303, name: 'ServiceBusy', message: 'busy' }, 503, headers);
const everywhere = (url: string) => ({ urls: { reader: url, search: url, models: url, flow: url } });

const failure = async (work: Promise<unknown>): Promise<LecternError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toBeInstanceOf(LecternError);
  return error as LecternError;
};

describe('retries', () => {
  it('transient errors after the wait that the server requests', async () => {
    const { url, times } = await peer((_, response, turn) =>
      turn === 1 ? busy(response, { 'retry-after': '1' }) : good(response),
    );
    const { page } = await createClient({ baseUrl: url }).read('https://example.com/');
    expect(page).toEqual(PAGE);
    expect(times).toHaveLength(2);
    expect(times[1]! - times[0]!).toBeGreaterThanOrEqual(990);
  });

  it('after a date too, and 429 of every face, including submissions', async () => {
    const soon = () => new Date(Date.now() + 1_000).toUTCString();
    const { url, times } = await peer((_, response, turn) => {
      if (turn === 1) json(response, { detail: 'slower' }, 429, { 'retry-after': soon() });
      else json(response, { batch_id: 'batch_1', status: 'pending' });
    });
    const job = await createClient(everywhere(url)).batches.submit({ input: [] });
    expect(job.batch_id).toBe('batch_1');
    expect(times).toHaveLength(2);
  });

  it('at most `retries` times, then throws the last error', async () => {
    const { url, times } = await peer((_, response) => busy(response));
    const error = await failure(createClient({ baseUrl: url, retries: 1 }).read('https://example.com/'));
    expect(error).toMatchObject({ status: 503, code: 50303, name: 'ServiceBusy' });
    expect(times).toHaveLength(2);
    times.length = 0;
    await failure(createClient({ baseUrl: url, retries: 0 }).read('https://example.com/'));
    expect(times).toHaveLength(1);
  });

  it('lost connections before and during the response', async () => {
    const { url, times } = await peer((request, response, turn) => {
      if (turn === 1) request.socket.destroy();
      else if (turn === 2) {
        response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{"data":');
        setTimeout(() => request.socket.destroy(), 50);
      } else good(response);
    });
    const { page } = await createClient({ baseUrl: url }).read('https://example.com/');
    expect(page.content).toBe('x');
    expect(times).toHaveLength(3);
  });

  it('not a submission whose connection was lost', async () => {
    const { url, times } = await peer((request) => request.socket.destroy());
    const client = createClient(everywhere(url));
    expect(await failure(client.batches.submit({ input: [] }))).toBeInstanceOf(LecternUnreachable);
    expect(await failure(client.crawl.start({ url: 'https://example.com/' }))).toBeInstanceOf(LecternUnreachable);
    expect(await failure(client.flow.post('/index'))).toBeInstanceOf(LecternUnreachable);
    expect(times).toHaveLength(3);
    const bad = await peer((_, response) => json(response, { detail: 'bad gateway' }, 502));
    expect((await failure(createClient(everywhere(bad.url)).batches.submit({ input: [] }))).status).toBe(502);
    expect(bad.times).toHaveLength(1);
  });

  it('not: a timeout of the server, which would occur again', async () => {
    const { url, times } = await peer((_, response) =>
      json(response, { data: null, code: 504, status: 50400, name: 'ServiceTimeoutError', message: 'too long' }, 504),
    );
    expect((await failure(createClient({ baseUrl: url }).read('https://example.com/'))).code).toBe(50400);
    expect(times).toHaveLength(1);
    const proxy = await peer((_, response, turn) =>
      turn === 1 ? response.writeHead(504).end('<h1>504</h1>') : good(response),
    );
    expect((await createClient({ baseUrl: proxy.url }).read('https://example.com/')).page.content).toBe('x');
  });

  it('not: a refusal', async () => {
    const { url, times } = await peer((_, response) => json(response, { detail: 'no', code: 'AUTH' }, 401));
    expect(await failure(createClient(everywhere(url)).embed({ input: 'x' }))).toMatchObject({
      status: 401,
      code: 'AUTH',
    });
    expect(times).toHaveLength(1);
  });

  it('not: after a wait longer than the limit or the remaining time', async () => {
    const hour = await peer((_, response) => busy(response, { 'retry-after': '3600' }));
    const error = await failure(createClient({ baseUrl: hour.url }).read('https://example.com/'));
    expect(error.retryAfterMs).toBe(3_600_000);
    expect(hour.times).toHaveLength(1);
    const soon = await peer((_, response) => busy(response, { 'retry-after': '50' }));
    const late = await failure(createClient({ baseUrl: soon.url, timeoutMs: 40_000 }).read('https://example.com/'));
    expect(late).toMatchObject({ status: 503, retryAfterMs: 50_000 });
    expect(soon.times).toHaveLength(1);
  });
});

describe('ends', () => {
  const silent: Handler = () => {};

  it('at the timeout, with a clear error', async () => {
    const { url } = await peer(silent);
    const error = await failure(createClient({ baseUrl: url, timeoutMs: 200 }).read('https://example.com/'));
    expect(error).toMatchObject({ code: 'TIMEOUT', name: 'TimeoutError', status: undefined });
    expect(error.message).toBe('The call took more than 200 ms');
    const own = await failure(createClient({ baseUrl: url }).readText('https://example.com/', {}, { timeoutMs: 100 }));
    expect(own.code).toBe('TIMEOUT');
  });

  it('not before a very long timeout', async () => {
    for (const timeoutMs of [2 ** 31, 1e15, Number.POSITIVE_INFINITY]) {
      const { url } = await peer((_, response) => setTimeout(() => good(response), 50));
      expect((await createClient({ baseUrl: url, timeoutMs }).read('https://example.com/')).page.content).toBe('x');
    }
  });

  it('when aborted, with the reason of the signal, and the server notices', async () => {
    let gone: () => void = () => {};
    const left = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const controller = new AbortController();
    const { url } = await peer((request) => {
      request.socket.on('close', gone);
      controller.abort(new Error('enough'));
    });
    const reading = createClient({ baseUrl: url }).read('https://example.com/', {}, { signal: controller.signal });
    await expect(reading).rejects.toThrow('enough');
    await left;
    const before = createClient({ baseUrl: url }).read('https://example.com/', {}, { signal: AbortSignal.abort() });
    await expect(before).rejects.toMatchObject({ name: 'AbortError' });
  });

  it('during the wait before a retry', async () => {
    const controller = new AbortController();
    const { url, times } = await peer((_, response) => {
      busy(response, { 'retry-after': '60' });
      setTimeout(() => controller.abort(), 200);
    });
    const reading = createClient({ baseUrl: url }).read('https://example.com/', {}, { signal: controller.signal });
    await expect(reading).rejects.toMatchObject({ name: 'AbortError' });
    expect(times).toHaveLength(1);
  });

  it('a stream when its consumer leaves, without leaking listeners', async () => {
    let gone: () => void = () => {};
    const left = new Promise<void>((resolve) => {
      gone = resolve;
    });
    const { url } = await peer((request, response) => {
      request.socket.on('close', gone);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const timer = setInterval(() => response.write(`event: data\ndata: ${JSON.stringify(PAGE)}\n\n`), 20);
      request.socket.on('close', () => clearInterval(timer));
    });
    let count = 0;
    for await (const { page } of createClient({ baseUrl: url }).readStream('https://example.com/')) {
      expect(page.title).toBe('A');
      if (++count === 3) break;
    }
    await left;
  });
});

describe('a stream', () => {
  const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const streaming = (write: (response: ServerResponse, request: IncomingMessage) => void) =>
    peer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      write(response, request);
    });
  const readAll = async (url: string) => {
    const seen: string[] = [];
    try {
      for await (const { page } of createClient({ baseUrl: url }).readStream('https://example.com/'))
        seen.push(page.title);
    } catch (error) {
      return { seen, error: error as LecternError };
    }
    return { seen };
  };

  it('that ends early throws', async () => {
    const broken = await streaming((response, { socket }) => {
      response.write(event('data', PAGE));
      setTimeout(() => socket.destroy(), 100);
    });
    expect(await readAll(broken.url)).toMatchObject({ seen: ['A'], error: { code: 'CUT_OFF' } });
    const halved = await streaming((response) => response.end(`${event('data', PAGE)}event: data\ndata: {"ti`));
    expect(await readAll(halved.url)).toMatchObject({ seen: ['A'], error: { code: 'CUT_OFF' } });
    expect(broken.times).toHaveLength(1);
  });

  it('that fails reports the error', async () => {
    const said = { code: 422, status: 42206, name: 'AssertionFailureError', message: 'm', readableMessage: 'read me' };
    const { url } = await streaming((response) => response.end(event('data', PAGE) + event('error', said)));
    const { seen, error } = await readAll(url);
    expect(seen).toEqual(['A']);
    expect(error).toMatchObject({ status: 422, code: 42206, name: 'AssertionFailureError', message: 'read me' });
    const bare = await streaming((response) => response.end(event('error', 'only words')));
    expect((await readAll(bare.url)).error).toMatchObject({ message: 'only words' });
    const broken = await streaming((response) => response.end('event: data\ndata: {"a\n\n'));
    expect((await readAll(broken.url)).error).toMatchObject({ code: 'BAD_ANSWER' });
  });

  it('yields its trace with the page and ignores unknown events', async () => {
    const trace = { id: 'f'.repeat(32), duration_ms: 1, spans: [], counts: {} };
    const { url } = await streaming((response) =>
      response.end(event('data', PAGE) + event('news', 1) + event('trace', trace)),
    );
    const events = [];
    for await (const one of createClient({ baseUrl: url }).readStream('https://example.com/')) events.push(one);
    expect(events).toEqual([
      { event: 'data', page: PAGE },
      { event: 'trace', page: PAGE, trace },
    ]);
  });

  it('of a chat throws unless it ends with [DONE]', async () => {
    const chunk = { id: 'c', choices: [{ index: 0, delta: { content: 'Hello' }, finish_reason: null }] };
    const chat = async (end: string) => {
      const { url } = await streaming((response) => response.end(`: ping\n\ndata: ${JSON.stringify(chunk)}\n\n${end}`));
      let text = '';
      const messages = [{ role: 'user', content: 'x' }] as const;
      for await (const { choices } of createClient(everywhere(url)).chatStream({ messages })) {
        text += choices[0]!.delta.content;
      }
      return text;
    };
    expect(await chat('data: [DONE]\n\n')).toBe('Hello');
    expect((await failure(chat(''))).code).toBe('CUT_OFF');
    const said = { error: { message: 'out of memory', type: 'server_error', code: 'INTERNAL_ERROR', param: null } };
    expect(await failure(chat(`data: ${JSON.stringify(said)}\n\n`))).toMatchObject({
      code: 'INTERNAL_ERROR',
      message: 'out of memory',
    });
  });
});

it('of lines resumes after a lost connection', async () => {
  const lines = Array.from({ length: 50 }, (_, index) => `${JSON.stringify({ custom_id: `doc-${index}` })}\n`);
  const { url, times } = await peer((request, response, turn) => {
    response.writeHead(200, { 'content-type': 'application/x-ndjson' });
    if (turn > 3) return response.end(lines.join(''));
    response.write(`${lines.slice(0, turn * 10).join('')}{"custom_`);
    return setTimeout(() => request.socket.destroy(), 50);
  });
  const ids: string[] = [];
  for await (const { custom_id } of createClient(everywhere(url)).batches.output('batch_1')) ids.push(custom_id);
  expect(ids).toEqual(lines.map((line) => JSON.parse(line).custom_id));
  expect(times).toHaveLength(4);
});

it('of lines that breaks repeatedly at the same place fails', async () => {
  const { url, times } = await peer((request, response) => {
    response.writeHead(200).write('{"custom_id":"a"}\n');
    setTimeout(() => request.socket.destroy(), 20);
  });
  const ids: string[] = [];
  const reading = async () => {
    for await (const { custom_id } of createClient(everywhere(url)).batches.output('batch_1')) ids.push(custom_id);
  };
  expect((await failure(reading())).code).toBe('CUT_OFF');
  expect(ids).toEqual(['a']);
  expect(times).toHaveLength(4);
});

describe('a crawl', () => {
  const event = (name: string, data: unknown) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
  const job = { crawl_id: 'crawl_1', status: 'processing' };
  const line = (seq: number) => event('page', { seq, event: 'page', url: `https://example.com/${seq}`, depth: 0 });

  it('is followed across lost connections and started once', async () => {
    const { url, requests } = await peer((request, response, turn) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      if (turn === 1) response.write(event('progress', job) + line(1) + line(2));
      else if (turn === 2) response.write(line(3));
      else return response.end(line(4) + event('done', { ...job, status: 'completed' }));
      return setTimeout(() => request.socket.destroy(), 50);
    });
    const seen: unknown[] = [];
    for await (const { event: name, data } of createClient(everywhere(url)).crawl.stream({
      url: 'https://example.com/',
    })) {
      seen.push('seq' in data ? data.seq : name);
    }
    expect(seen).toEqual(['progress', 1, 2, 3, 4, 'done']);
    expect(requests.map(({ method, url: place }) => `${method} ${place}`)).toEqual([
      'POST /crawl',
      'GET /crawl/crawl_1/pages?after=2',
      'GET /crawl/crawl_1/pages?after=3',
    ]);
  });

  it('is not restarted if its stream breaks before its id is known', async () => {
    const { url, times } = await peer((request, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      setTimeout(() => request.socket.destroy(), 50);
    });
    const stream = createClient(everywhere(url)).crawl.stream({ url: 'https://example.com/' });
    expect((await failure(stream.next())).code).toBe('CUT_OFF');
    expect(times).toHaveLength(1);
  });

  it('yields its lines from where they broke', async () => {
    const lines = [1, 2, 3].map((seq) => `${JSON.stringify({ seq, event: 'page' })}\n`);
    const { url, requests } = await peer((request, response, turn) => {
      response.writeHead(200, { 'content-type': 'application/x-ndjson' });
      if (turn > 1) return response.end(lines.slice(2).join(''));
      response.write(lines.slice(0, 2).join(''));
      return setTimeout(() => request.socket.destroy(), 50);
    });
    const seen: number[] = [];
    for await (const { seq } of createClient(everywhere(url)).crawl.pages('crawl_1')) seen.push(seq);
    expect(seen).toEqual([1, 2, 3]);
    expect(requests.map(({ url: place }) => place)).toEqual([
      '/crawl/crawl_1/pages?after=0',
      '/crawl/crawl_1/pages?after=2',
    ]);
  });
});

describe('reports', () => {
  it('an unreachable server', async () => {
    const { url, close } = await peer((_, response) => good(response));
    await close();
    const client = createClient({ baseUrl: url, retries: 1 });
    const error = await failure(client.read('https://example.com/'));
    expect(error).toBeInstanceOf(LecternUnreachable);
    expect(error.message).toMatch(new RegExp(`^No response from ${url}/: .*ECONNREFUSED`));
    expect((error as LecternUnreachable).url).toBe(`${url}/`);
    const stream = client.readStream('https://example.com/');
    expect(await failure(stream.next())).toBeInstanceOf(LecternUnreachable);
  });

  it('a server that is not Lectern', async () => {
    const { url } = await peer((_, response) => response.end('<h1>It works!</h1>'));
    const error = await failure(createClient(everywhere(url)).models());
    expect(error).toMatchObject({ code: 'BAD_ANSWER', status: 200, body: '<h1>It works!</h1>' });
    expect(error.message).toBe(
      `${url}/v1/models answered with no content type instead of JSON: is this a Lectern server?`,
    );
    for (const body of [{}, null, [], { data: 'x' }]) {
      const other = createClient(everywhere((await peer((_, response) => json(response, body))).url));
      for (const asked of [other.models(), other.read('https://example.com/'), other.search('x')]) {
        expect((await failure(asked)).code).toBe('BAD_ANSWER');
      }
    }
  });

  it('an answer that is not a stream', async () => {
    const { url } = await peer((_, response) => response.end('<h1>It works!</h1>\n\n'));
    const client = createClient(everywhere(url));
    const streams = [
      client.readStream('https://example.com/'),
      client.searchStream('x'),
      client.chatStream({ messages: [] }),
      client.crawl.stream({ url: 'https://example.com/' }),
    ];
    for (const stream of streams) {
      const error = await failure(stream.next());
      expect(error).toMatchObject({ code: 'BAD_ANSWER', status: 200 });
      expect(error.message).toContain('answered with no content type instead of an event stream');
    }
  });

  it.each([301, 302, 303, 307, 308])('a redirect (%i), which is not followed', async (status) => {
    const other = await peer((_, response) => good(response));
    const { url } = await peer((request, response) => {
      response.writeHead(status, { location: `${other.url}${request.url}` }).end();
    });
    const client = createClient({ ...everywhere(url), apiKey: 'key' });
    const asks = [() => client.read('https://example.com/'), client.models, () => client.readStream('x').next()];
    for (const ask of asks) {
      const error = await failure(ask());
      expect(error).toMatchObject({ code: 'BAD_ANSWER', status });
      expect(error.message).toContain(`redirects to ${other.url}/`);
    }
    expect(other.requests).toHaveLength(0);
  });

  it('a face whose URL does not follow from the base URL', async () => {
    const client = createClient({ baseUrl: 'https://lectern.example' });
    await expect(client.search('x')).rejects.toThrow('set `urls.search`');
    expect(() => createClient({ baseUrl: 'lectern' })).toThrow(TypeError);
  });

  it('an invalid API key, without showing it', () => {
    expect(() => createClient({ apiKey: 'secret\nkey' })).toThrow(
      /^The API key contains invalid characters: only visible ASCII is allowed$/,
    );
  });
});

it('follows the redirect of a picture without sending the key', async () => {
  const other = await peer((_, response) => response.writeHead(200, { 'content-type': 'image/png' }).end('png'));
  const { url } = await peer((_, response) => response.writeHead(302, { location: `${other.url}/a` }).end());
  const client = createClient({ baseUrl: url, apiKey: 'key' });
  const { bytes, type } = await client.readBytes('https://example.com/', { respondWith: 'screenshot' });
  expect([Buffer.from(bytes).toString(), type]).toEqual(['png', 'image/png']);
  expect(other.requests.map(({ method, headers }) => [method, headers.authorization])).toEqual([['GET', undefined]]);
});

it('sends key, headers and options', async () => {
  const { url, requests } = await peer((_, response) => good(response));
  const client = createClient({ ...everywhere(url), apiKey: ' key-1\n', headers: { 'x-a': '1', 'x-b': '1' } });
  await client.read('https://example.com/', {}, { headers: { 'X-B': '2' } });
  expect(requests[0]!.headers).toMatchObject({
    authorization: 'Bearer key-1',
    accept: 'application/json',
    'content-type': 'application/json',
    'x-a': '1',
    'x-b': '2',
  });
  await client.batches.list({ limit: 7 });
  expect(requests[1]!.url).toBe('/v1/batches?limit=7');
  await client.batches.get('../admin?x=1');
  expect(requests[2]!.url).toBe('/v1/batch/..%2Fadmin%3Fx%3D1');
});
