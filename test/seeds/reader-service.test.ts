/** Sections 0 to 3 and 4.1: the purpose of the hosts, the URLs of their endpoints, and the envelope of the reader. */
import { afterAll, beforeAll, expect } from 'vitest';
import { makePdf, officeFiles } from './files.ts';
import { type Answer, type Headers, type ReaderHost, send, startReader, type Values } from './reader-host.ts';
import { hosted } from './seed.ts';

const MODEL = 'lectern-static-v2';
const RERANKER = 'lectern-static-rerank-v2';

/** The lines of a batch. */
const LINES = Array.from({ length: 300 }, (_, at) => ({ custom_id: `id-${at}`, body: { input: `line number ${at}` } }));

let host: ReaderHost;
let pdf: string;
beforeAll(async () => {
  pdf = (await makePdf()).toString('base64');
  host = await startReader({
    pages: {
      '/kilns.pdf': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'application/pdf' }).end(Buffer.from(pdf, 'base64')),
      '/lines.jsonl': ({ response }) => void response.end(LINES.map((line) => JSON.stringify(line)).join('\n')),
      // A search service with the format of SearXNG.
      '/search': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            query: 'harbour',
            results: [{ url: page('/article'), title: 'The harbour', content: 'Boats.' }],
          }),
        ),
    },
    settings: ({ origin }) => ({ searchProviders: [{ name: 'mine', kind: 'searxng', url: origin }] }),
  });
});
afterAll(() => host.close());

hosted.elsewhere(
  '0',
  'Placeholders used: {reader_url} is the reader host, {search_url} is the search host, {base_url} is the model host. {reader_eu_url} and {search_eu_url} are the reader and search hosts that keep all processing inside the EU.',
  {
    'test/api/eu-hosts.test.ts': [
      'named %s at the port %s refuses what needs a service outside, and names it',
      'named %s at the port %s reads with what is on this machine',
      'does not start work that goes on elsewhere',
      'named %s at the port %s asks only providers inside',
    ],
  },
  'The EU hosts have names (`eu-r.`, `eu-s.`) and, if set, ports of their own.',
);

const page = (path: string) => `${host.site.origin}${path}`;
const urlOf = (face: string, path: string) => `${host.server.urls[face]}${path}`;
const ask = (face: string, path: string, headers: Headers = host.key()) => send(urlOf(face, path), { headers });
const postTo = (face: string, path: string, body: Values, headers: Headers = host.key()) =>
  send(urlOf(face, path), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
async function embed(input: readonly string[]): Promise<number[][]> {
  const { json } = await postTo('model', '/v1/embeddings', { model: MODEL, input });
  return json.data.map(({ embedding }: { embedding: number[] }) => embedding);
}
const similarity = (a: readonly number[], b: readonly number[]) => a.reduce((sum, x, at) => sum + x * b[at]!, 0);

hosted.row(
  '0',
  'This document covers the hosted API: the web-page reader, the web search, and the model endpoints (embeddings, reranking, chat-completion OCR, batch embeddings, model list). The second document covers the REST gateway of a data-flow framework, which is a separate interface with its own endpoints.',
  async () => {
    const paths = async (face: string) => Object.keys((await ask(face, '/openapi.json')).json.paths);
    expect(await paths('reader')).toContain('/');
    expect(await paths('search')).toContain('/search');
    expect(await paths('model')).toEqual(
      expect.arrayContaining([
        ...['/v1/embeddings', '/v1/rerank', '/v1/chat/completions', '/v1/batch/embeddings', '/v1/models'],
      ]),
    );
    const gateway = ['/status', '/index', '/update', '/delete', '/api/{mode}'];
    for (const face of ['reader', 'search', 'model']) {
      const own = await paths(face);
      for (const path of gateway) expect(own).not.toContain(path);
    }
    expect((await ask('flow', '/status', {})).json).toHaveProperty('jina');
    expect((await ask('flow', '/v1/models', {})).status).toBe(404);
  },
);

hosted.row(
  '1',
  'Reader: turns a web page, a PDF, a document file or raw HTML into LLM-friendly text (Markdown by default) or other forms.',
  async () => {
    const [file] = officeFiles().filter(({ name }) => name === 'report.docx');
    const inputs: readonly [string, Values, string][] = [
      ['page', { url: page('/article') }, '## The market'],
      ['PDF by URL', { url: page('/kilns.pdf') }, 'speaks of clay'],
      ['PDF', { pdf }, 'speaks of clay'],
      ['document', { file: file!.bytes.toString('base64') }, 'Harbour report'],
      ['HTML', { html: '<title>T</title><h2>Head</h2><p>Some <b>raw</b> words.</p>' }, 'Some **raw** words.'],
    ];
    for (const [name, input, words] of inputs) {
      const text = await host.post(input, { accept: 'text/plain' });
      expect([name, text.text]).toEqual([name, expect.stringMatching(/^Title: [\s\S]*\nMarkdown Content:\n/)]);
      expect(text.text).toContain(words);
      const other = (await host.post({ ...input, respondWith: 'html' })).data;
      expect([name, other.html]).toEqual([name, expect.stringContaining('<')]);
    }
  },
);

hosted.row('1', 'Search: searches the web and returns the result pages as text.', async () => {
  const { status, text } = await ask('search', '/harbour', { ...host.key(), accept: 'text/plain' });
  expect(status).toBe(200);
  expect(text).toContain(`[1] Title: The harbour`);
  expect(text).toContain('keeps its own hours');
});

/** Language codes. The test embeds the name of each language in that language. */
const LANGUAGES =
  'af am ar as az be bg bn bs ca cs cy da de el en es et eu fa fi fil fr ga gl gu ha he hi hr hu hy id ig is it ja ka kk km kn ko ky lo lt lv mk ml mn mr ms my nb ne nl or pa pl ps pt ro ru rw sd si sk sl so sq sr sv sw ta te tg th tk to tr tt ug uk ur uz vi wo xh yo yue zh zu br ckb fo fy gd ht jv ku lb mg mi mt nn oc om qu rm su ti yi'.split(
    ' ',
  );

hosted.row(
  '1',
  'Text embeddings: dense vectors for semantic search, similarity, clustering and classification, in 100+ languages.',
  async () => {
    const words = LANGUAGES.map((code) => new Intl.DisplayNames([code], { type: 'language' }).of(code)!);
    expect(LANGUAGES.length).toBeGreaterThan(100);
    const vectors = await embed(words);
    for (const [at, vector] of vectors.entries()) {
      expect([LANGUAGES[at], Math.hypot(...vector)]).toEqual([LANGUAGES[at], expect.closeTo(1, 3)]);
      expect([LANGUAGES[at], vector.length]).toEqual([LANGUAGES[at], 1_024]);
    }
    // Texts about the same subject have similar vectors. This is used for search, similarity and clustering.
    const [tea, drink, car, road, query] = await embed([
      'Green tea is drunk hot.',
      'A cup of hot tea is a drink.',
      'The car needs a new engine.',
      'A car drives on the road.',
      'hot drinks',
    ]);
    expect(similarity(tea!, drink!)).toBeGreaterThan(similarity(tea!, car!));
    expect(similarity(car!, road!)).toBeGreaterThan(similarity(car!, drink!));
    expect(similarity(query!, drink!)).toBeGreaterThan(similarity(query!, road!));
    const { status, json } = await postTo('model', '/v1/classify', {
      model: MODEL,
      input: ['A cup of hot tea.'],
      labels: ['drink', 'vehicle'],
    });
    expect([status, json.data[0].prediction]).toEqual([200, 'drink']);
  },
);

hosted.elsewhere('1', 'Multimodal embeddings: text, images, audio, video and PDFs are embedded into one space.', {
  'test/api/model-media.test.ts': [
    'has the same vector as plain arithmetic, in every form that clients send',
    'may stand among texts, is counted by its patches, and is charged',
    'with a text makes one vector: the mean of their directions',
    'returns a vector for each page, in order, equal to that of the page rendered alone',
    'of pictures are the mean of two frames a second',
    'of sound are the mean of windows of ten seconds',
  ],
});

hosted.row('1', 'Reranking: scores candidates against a query and reorders them.', async () => {
  const documents = ['A bicycle has two wheels.', 'Green tea is drunk hot.', 'The weather is fine.'];
  const { status, json } = await postTo('model', '/v1/rerank', { model: RERANKER, query: 'hot tea', documents });
  expect(status).toBe(200);
  const scores = json.results.map(({ relevance_score }: { relevance_score: number }) => relevance_score);
  expect(scores).toHaveLength(3);
  expect(scores).toEqual([...scores].sort((a, b) => b - a));
  expect(json.results[0].index).toBe(1);
  expect(json.results.map(({ index }: { index: number }) => index).sort()).toEqual([0, 1, 2]);
});

hosted.elsewhere(
  '1',
  'Document OCR: a page image is transcribed to text or Markdown (tables and layout preserved) through the chat-completions schema.',
  {
    'test/api/chat-completions.test.ts': [
      'is the Markdown of a page with two columns and a table, in the envelope of the protocol',
      'is plain text if the option or the prompt asks for it',
    ],
  },
);

/** Submits a batch, waits until it has ended, and returns the lines of its output. */
async function batch(source: Values) {
  const submitted = await postTo('model', '/v1/batch/embeddings', { model: MODEL, ...source });
  expect([submitted.text, submitted.status, submitted.json.status]).toEqual([expect.anything(), 200, 'pending']);
  const job = `/v1/batch/${submitted.json.batch_id}`;
  await expect.poll(async () => (await ask('model', job)).json.status, { timeout: 60_000 }).toBe('completed');
  const { text } = await ask('model', `${job}/output`);
  return text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

hosted.row(
  '1',
  'Batch embeddings: the same embedding models over JSONL input, run asynchronously for large workloads.',
  async () => {
    const output = await batch({ input_url: page('/lines.jsonl') });
    expect(output.map(({ custom_id }) => custom_id)).toEqual(LINES.map(({ custom_id }) => custom_id));
    const [first] = await embed([LINES[0]!.body.input]);
    const [vector] = output[0].response.body.data;
    expect(similarity(vector.embedding, first!)).toBeCloseTo(1, 4);
  },
);

const expectList = ({ status, json }: Answer) => {
  expect([status, json.object]).toEqual([200, 'list']);
  const ids = json.data.map(({ id }: { id: string }) => id);
  expect(ids).toEqual(expect.arrayContaining([MODEL, RERANKER]));
  for (const { id, pricing } of json.data)
    expect([id, pricing]).toEqual([id, expect.objectContaining({ prompt: expect.stringMatching(/^\d+(?:\.\d+)?$/) })]);
};

hosted.row('1', 'Model list: lists the models that exist and what they cost.', async () =>
  expectList(await ask('model', '/v1/models')),
);

hosted.row(
  '2',
  'The 200 response is JSON in one of two variants: the data is a string, or the data is any object or null.',
  async () => {
    const html = '<title>T</title><p>Some words.</p>';
    for (const respondWith of ['content', 'markdown', 'html', 'text', 'frontmatter']) {
      const { status, json } = await host.read({ html, respondWith });
      expect([respondWith, status, typeof json.data]).toEqual([respondWith, 200, 'object']);
      expect(json.data).not.toBeNull();
    }
  },
  'It is always the second variant: `data` is the page object.',
);

const envelope = async () => (await host.read({ html: '<title>T</title><p>Some words.</p>' })).json;

hosted.row('2', 'code | number | yes | 200 | Mirrors the HTTP status code', async () => {
  expect((await envelope()).code).toBe(200);
  for (const [options, status] of [
    [{ html: 'x', timeout: 0 }, 400],
    [{ file: '!' }, 422],
  ] as const) {
    const answer = await host.read(options);
    expect([answer.status, answer.json.code]).toEqual([status, status]);
  }
});

hosted.row('2', 'status | number | yes | 20000 | Extension of the HTTP status code', async () => {
  expect((await envelope()).status).toBe(20_000);
  const { status, json } = await host.read({ html: 'x', timeout: 0 });
  expect([status, json.status]).toEqual([400, 40_001]);
});

hosted.row(
  '2',
  'data | string (variant 1); any object or null (variant 2) | no | none | The requested payload',
  async () => {
    expect((await envelope()).data).toMatchObject({ title: 'T', content: 'Some words.' });
    expect((await host.read({ html: 'x', timeout: 0 })).json.data).toBeNull();
  },
  'A failure has `null`.',
);

hosted.row(
  '2',
  'meta | any, nullable | no | none | Metadata that sometimes comes with the payload',
  async () => {
    const { meta, data } = await envelope();
    expect(meta).toEqual({ usage: { tokens: expect.any(Number) } });
    expect(meta.usage).toEqual(data.usage);
    expect((await host.read({ html: 'x', timeout: 0 })).json).not.toHaveProperty('meta');
  },
  'It has the charge of the read in tokens, and its steps with the option `trace`.',
);

hosted.open(
  '2',
  'Fields of model records, embedding results, rerank results, batch jobs and search results: not shown.',
  'Those of the published hosted services, listed in the wire formats of [the model host](wire/models.md) and ' +
    '[the search host](wire/search.md).',
);

hosted.open(
  '3',
  'Transitions: not shown.',
  'Crawls and batch jobs have states, which [crawling](../guide/crawling.md) and [batch jobs](../guide/batches.md) list.',
);

hosted.row('4.1', 'GET | {reader_url}/{url} | Read a web page or PDF given in the path', async () => {
  expect((await host.at(page('/article'))).data).toMatchObject({
    title: 'The harbour at night',
    url: page('/article'),
  });
  expect((await host.at(page('/kilns.pdf'))).data).toMatchObject({ title: 'On kilns', numPages: 2 });
});

hosted.row(
  '4.1',
  'GET | {reader_url}/ (query parameter `url` or other input) | Same operation, input in query or headers (operationId reader_get_root)',
  async () => {
    const { text } = await host.at(page('/article'));
    expect((await host.get({ url: page('/article') })).text).toBe(text);
    expect((await send(`${host.server.reader}/`, { headers: { 'x-url': page('/article') } })).text).toBe(text);
    const html = '<p>Some words.</p>';
    expect((await host.get({ html })).data.content).toBe('Some words.');
    expect((await send(`${host.server.reader}/`, { headers: { 'x-html': html } })).data.content).toBe('Some words.');
    expect((await host.get({ pdf })).data.title).toBe('On kilns');
    const { paths } = (await ask('reader', '/openapi.json')).json;
    expect(paths['/'].get.operationId).toBe('reader_get_root');
  },
);

hosted.row('4.1', 'POST | {reader_url}/ | Read a web page, PDF, file or HTML', async () => {
  const [file] = officeFiles().filter(({ name }) => name === 'report.docx');
  for (const [body, words] of [
    [{ url: page('/article') }, 'The market'],
    [{ url: page('/kilns.pdf') }, 'speaks of clay'],
    [{ pdf }, 'speaks of clay'],
    [{ file: file!.bytes.toString('base64') }, 'Harbour report'],
    [{ html: '<p>Some words.</p>' }, 'Some words.'],
  ] as const)
    expect((await host.post(body)).data.content).toContain(words);
  const form = new FormData();
  form.set('url', page('/article'));
  const answer = await send(host.server.reader, { method: 'POST', headers: {}, body: form });
  expect(answer.data.title).toBe('The harbour at night');
});

const expectResults = ({ status, json }: Answer) => {
  expect([status, json.code]).toEqual([200, 200]);
  expect(json.data).toMatchObject([{ url: page('/article'), content: expect.stringContaining('keeps its own hours') }]);
};

hosted.row('4.1', 'GET | {search_url}/{q} | Web search, query in the path', async () => {
  expectResults(await ask('search', '/the%20harbour'));
});
hosted.row('4.1', 'POST | {search_url}/search | Web search', async () => {
  expectResults(await postTo('search', '/search', { q: 'the harbour' }));
});

hosted.row('4.1', 'POST | {base_url}/v1/embeddings | Embed text, images, audio, video or PDFs', async () => {
  const { status, json } = await postTo('model', '/v1/embeddings', { model: MODEL, input: ['one', { text: 'two' }] });
  expect([status, json.data.length]).toEqual([200, 2]);
});

hosted.row('4.1', 'POST | {base_url}/v1/rerank | Rerank candidates against a query', async () => {
  const { status, json } = await postTo('model', '/v1/rerank', {
    model: RERANKER,
    query: 'tea',
    documents: ['a', 'tea'],
  });
  expect([status, json.results[0].index]).toEqual([200, 1]);
});

hosted.elsewhere(
  '4.1',
  'POST | {base_url}/v1/chat/completions | Transcribe a document image (OCR), chat-completions schema',
  {
    'test/api/chat-completions.test.ts': [
      'is the Markdown of a page with two columns and a table, in the envelope of the protocol',
    ],
  },
);

hosted.row('4.1', 'POST | {base_url}/v1/batch/embeddings | Asynchronous embedding of a large dataset', async () => {
  const output = await batch({ input: [{ custom_id: 'a', body: { input: ['one', 'two'] } }] });
  expect(output[0].response.body.data).toHaveLength(2);
});

hosted.row('4.1', 'GET | {base_url}/v1/models | List models and their prices', async () =>
  expectList(await ask('model', '/v1/models', {})),
);

hosted.open(
  '4.1',
  'Request and response shape of the search endpoints, embeddings, rerank, chat completions, batch embeddings and models endpoints: not shown.',
  'Those of the published hosted services, listed in the wire formats of [the search host](wire/search.md) and ' +
    '[the model host](wire/models.md).',
);
