/**
 * `constructor`, `__proto__` and the other names that every object inherits, as the value of each option and as a key.
 * No request may fail with status 500, and each refusal must name the invalid field.
 */
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { CRAWL_OPTIONS } from '#crawl/index.ts';
import { CHAT_FIELDS, EMBED_FIELDS, RERANK_FIELDS } from '#models/index.ts';
import { INHERITED_NAMES, jsonOf } from '#own-value.suite.ts';
import { OPTIONS } from '#reader/index.ts';
import { ALL_OPTIONS } from '#search/index.ts';
import { type Service, searxngAnswer, startService } from '#search/service.suite.ts';
import { startServer, type TestServer } from '../support/server.ts';

const LONG_MS = 300_000;
const AT_ONCE = 8;
const SECRET = 'a-secret-of-the-admin-api-for-tests';
const UNLIMITED = { reader: { requestsPerMinute: 'none' as const }, search: { requestsPerMinute: 'none' as const } };
const HTML = '<title>Tea</title><main><h1>Tea</h1><p>Green tea is made of leaves that were not fermented.</p></main>';

let service: Service;
let server: TestServer;
let key: string;
beforeAll(async () => {
  service = await startService((asked) =>
    searxngAnswer([{ title: 'Tea', url: 'http://192.0.2.1/', text: 'About tea.' }], asked),
  );
  server = await startServer({
    browser: 'none',
    modelDownload: 'off',
    searchProviders: [{ name: 'mine', kind: 'searxng', url: service.url, key: 'key-of-the-provider' }],
    adminPort: 0,
    adminSecret: SECRET,
    // The tests send more requests than a plan allows in a minute.
    plans: { free: UNLIMITED, paid: UNLIMITED, premium: UNLIMITED },
  });
  key = server.app.firstKey!;
});
afterAll(async () => {
  await server.close();
  await service.close();
});

interface Asked {
  /** Shown when the test fails. */
  readonly about: string;
  /** A refusal must name one of these fields. Empty if the request must not be refused. */
  readonly fields?: readonly string[];
  readonly url: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | FormData;
}

interface Answered {
  readonly status: number;
  readonly text: string;
}

async function ask({ url, method = 'POST', headers = {}, body }: Asked): Promise<Answered> {
  const type: Record<string, string> = typeof body === 'string' ? { 'content-type': 'application/json' } : {};
  const answer = await fetch(url, {
    method,
    headers: { authorization: `Bearer ${key}`, accept: 'application/json', ...type, ...headers },
    redirect: 'manual',
    ...(body !== undefined && { body }),
  });
  return { status: answer.status, text: await answer.text() };
}

/** Describes what is wrong with a response; `undefined` if nothing is. */
function complaint({ about, fields = [] }: Asked, { status, text }: Answered): string | undefined {
  const said = `${about}: ${status} ${text.slice(0, 300)}`;
  if (status === 500) return said;
  const isRefusal = status === 400 || (status === 422 && text.includes('"errors"'));
  return !isRefusal || fields.some((field) => text.toLowerCase().includes(field.toLowerCase())) ? undefined : said;
}

const withoutId = (text: string) => text.replace(/"request_id":"\w+"/, '');

/** `basis` is the response to a request without inherited names. A response that equals it needs no further check. */
async function complaints(all: readonly Asked[], basis?: Answered): Promise<string[]> {
  const waiting = [...all];
  const found: string[] = [];
  const worker = async () => {
    for (let next = waiting.pop(); next; next = waiting.pop()) {
      const answered = await ask(next);
      if (basis && withoutId(answered.text) === withoutId(basis.text)) continue;
      const wrong = complaint(next, answered);
      if (wrong) found.push(wrong);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return found;
}

/** A name as a value, in a list, and as a key. */
const shapesOf = (name: string): unknown[] => [
  name,
  [name],
  JSON.parse(jsonOf([[name, name]])),
  jsonOf([[name, name]]),
];

interface Table {
  readonly [option: string]: { readonly headers?: readonly string[]; readonly meaning?: string };
}

/** The names by which a refusal may refer to an option. */
const shownNames = (option: string, meaning = '') => [option, ...(/^Alias of `(\w+)`/.exec(meaning)?.slice(1) ?? [])];

const OTHER_NAMES = INHERITED_NAMES.filter((name) => !['__proto__', 'constructor'].includes(name));

/**
 * Two names that are special (the only accessor, and a function that is also a class), and one of the others. Across
 * the options, every name is used.
 */
const namesFor = (at: number): readonly string[] => ['__proto__', 'constructor', OTHER_NAMES[at % OTHER_NAMES.length]!];

/** Requests with inherited names as the value of each option, in the body, the query and each of its headers. */
function singles(url: string, table: Table, basis: readonly (readonly [string, unknown])[]): Asked[] {
  return Object.entries(table).flatMap(([option, { headers = [], meaning }], at) =>
    namesFor(at).flatMap((name) => {
      const fields = shownNames(option, meaning);
      const bare = basis.filter(([other]) => other !== option);
      const about = (place: string, value: unknown) => `${option} ${place} ${JSON.stringify(value)}`;
      return [
        ...shapesOf(name).map((value) => {
          return { about: about('body', value), fields, url, body: jsonOf([...bare, [option, value]]) };
        }),
        {
          about: about('query', name),
          fields,
          url: `${url}?${option}=${name}`,
          body: jsonOf(bare),
        },
        ...headers.map((header) => ({
          about: about(header, name),
          fields,
          url,
          headers: { [header]: name },
          body: jsonOf(bare),
        })),
      ];
    }),
  );
}

/**
 * Requests with every name as an unknown key, in the body, the query, a header and a form. The response must not
 * change.
 */
function keys(url: string, basis: readonly (readonly [string, unknown])[]): Asked[] {
  return INHERITED_NAMES.flatMap((name) => {
    const form = new FormData();
    for (const [field, value] of basis) form.append(field, String(value));
    form.append(`${name}[]`, 'x');
    form.append(`${name}.x`, 'y');
    return [
      { about: `key ${name} in the body`, url, body: jsonOf([...basis, [name, { x: 1 }]]) },
      {
        about: `key ${name} in the query`,
        url: `${url}?${name}=x&${name}=y&${name}[]=z&${name}[x]=1`,
        body: jsonOf(basis),
      },
      { about: `header ${name}`, url, headers: { [name]: 'x' }, body: jsonOf(basis) },
      { about: `key ${name} in a form`, url, body: form },
    ];
  });
}

const PAGE = [['html', HTML]] as const;

describe('reader', () => {
  it('every option', { timeout: LONG_MS }, async () => {
    expect(await complaints(singles(`${server.reader}/`, OPTIONS, PAGE))).toEqual([]);
  });

  it('ignores unknown keys', { timeout: LONG_MS }, async () => {
    const all = keys(`${server.reader}/`, PAGE);
    expect(await complaints(all)).toEqual([]);
    for (const one of all) expect(JSON.parse((await ask(one)).text).data?.title, one.about).toBe('Tea');
  });

  it('names form parts that are not accepted', async () => {
    for (const name of INHERITED_NAMES) {
      const body = new FormData();
      body.append('html', HTML);
      body.append(name, 'x');
      const { status, text } = await ask({ about: '', url: server.reader, body });
      expect([status, JSON.parse(text)]).toEqual([
        400,
        expect.objectContaining({ path: 'body', message: expect.stringContaining(name) }),
      ]);
    }
  });

  it('several options at once', { timeout: LONG_MS }, async () => {
    const value = fc.constantFrom(...INHERITED_NAMES.flatMap(shapesOf));
    const given = fc.dictionary(fc.constantFrom(...Object.keys(OPTIONS), ...INHERITED_NAMES), value, { maxKeys: 8 });
    await fc.assert(
      fc.asyncProperty(given, async (options) => {
        const { status, text } = await ask({
          about: '',
          url: `${server.reader}/`,
          body: jsonOf([...PAGE, ...Object.entries(options)]),
        });
        expect(status, text).not.toBe(500);
      }),
      { numRuns: 60 },
    );
  });

  it('crawls', { timeout: LONG_MS }, async () => {
    const url = `${server.reader}/crawl`;
    expect(await complaints(singles(url, CRAWL_OPTIONS, [['url', 'http://192.0.2.1/']]))).toEqual([]);
  });
});

it('search: every option', { timeout: LONG_MS }, async () => {
  const url = `${server.urls.search}/search`;
  expect(
    await complaints(
      singles(url, ALL_OPTIONS, [
        ['q', 'tea'],
        ['num', 0],
      ]),
    ),
  ).toEqual([]);
  expect(
    await complaints(
      keys(url, [
        ['q', 'tea'],
        ['num', 0],
      ]),
    ),
  ).toEqual([]);
});

describe('models', () => {
  /** These endpoints accept options only in the body. */
  const inBody = (table: object): Table => Object.fromEntries(Object.keys(table).map((name) => [name, {}]));
  const aliases = (table: Record<string, { readonly aliases: readonly string[] }>): Table =>
    inBody(
      Object.fromEntries(
        Object.entries(table).flatMap(([name, row]) => [name, ...row.aliases].map((one) => [one, {}])),
      ),
    );

  it.each([
    [
      '/v1/embeddings',
      aliases(EMBED_FIELDS),
      [
        ['model', 'lectern-static-v2'],
        ['input', 'tea'],
      ],
    ],
    [
      '/v1/rerank',
      aliases(RERANK_FIELDS),
      [
        ['model', 'lectern-static-rerank-v2'],
        ['query', 'tea'],
        ['documents', ['tea']],
      ],
    ],
    [
      '/v1/batch/embeddings',
      inBody(EMBED_FIELDS),
      [
        ['model', 'lectern-static-v2'],
        ['input', []],
      ],
    ],
    [
      '/v1/chat/completions',
      aliases(CHAT_FIELDS),
      [
        ['model', 'svc-ocr'],
        ['messages', [{ role: 'user', content: 'x' }]],
      ],
    ],
  ] as const)('%s', { timeout: LONG_MS }, async (path, table, basis) => {
    const url = server.urls.model + path;
    const known = await ask({ about: '', url, body: jsonOf(basis) });
    expect(await complaints(singles(url, table, basis), known)).toEqual([]);
    for (const one of keys(url, basis).filter(({ body }) => typeof body === 'string'))
      expect((await ask(one)).status, one.about).toBe(known.status);
  });

  it('in paths', async () => {
    for (const name of INHERITED_NAMES)
      for (const place of ['/v1/models/', '/v1/batch/', '/v1/', '/']) {
        const { status, text } = await ask({ about: '', method: 'GET', url: server.urls.model + place + name });
        expect([status, text], place + name).toEqual([404, expect.stringContaining('RESOURCE_NOT_FOUND')]);
      }
  });
});

it('cookies and storage', async () => {
  const read = (options: string) =>
    ask({ about: '', url: server.reader, body: `{"url":"http://192.0.2.1/",${options}}` });
  for (const name of INHERITED_NAMES) {
    const attributes = `SameSite=${name}; ${name}=${name}; Max-Age=${name}`;
    for (const cookie of [`${name}=${name}`, `a=b; ${attributes}`, `a=b; Path=${name}`, `a=b; Domain=${name}`])
      expect([400, 451], cookie).toContain((await read(`"setCookies":"${cookie}"`)).status);
    const entry = jsonOf([
      ['name', name],
      ['value', name],
      [name, 1],
    ]);
    const origins = `[{"origin":"https://a.example","localStorage":[${entry}],"${name}":1}]`;
    const state = `"storageState":{"cookies":[{"domain":"a.example","path":"/",${entry.slice(1)}],"origins":${origins},"${name}":1}`;
    expect([400, 403, 422, 451], state).toContain((await read(state)).status);
  }
});

it('the admin API', async () => {
  const headers = { authorization: `Bearer ${SECRET}` };
  for (const name of INHERITED_NAMES) {
    const asked: [string, string, string?][] = [
      ['GET', `/accounts?${name}=x`],
      ['GET', `/accounts/${name}`],
      ['GET', `/usage?by=${name}`],
      ['GET', `/${name}`],
      [
        'POST',
        '/accounts',
        jsonOf([
          ['name', name],
          ['plan', name],
        ]),
      ],
      [
        'POST',
        '/accounts',
        jsonOf([
          ['name', name],
          ['plan', 'free'],
          [name, 1],
        ]),
      ],
      [
        'POST',
        '/keys',
        jsonOf([
          ['name', name],
          ['accountId', name],
        ]),
      ],
      ['PATCH', `/keys/${name}`, jsonOf([['name', name]])],
    ];
    for (const [method, place, body] of asked) {
      const url = server.urls.admin + place;
      const { status, text } = await ask({ about: '', url, method, headers, ...(body && { body }) });
      expect([400, 404], `${method} ${place} ${text}`).toContain(status);
    }
  }
});

it('MCP', { timeout: LONG_MS }, async () => {
  const headers = { accept: 'application/json, text/event-stream' };
  const call = (method: string, params: unknown) =>
    ask({
      about: '',
      url: `${server.reader}/mcp`,
      headers,
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    });
  for (const name of INHERITED_NAMES) {
    const options = JSON.parse(
      jsonOf([
        [name, name],
        ['engine', name],
      ]),
    );
    for (const [method, params] of [
      ['tools/call', { name, arguments: {} }],
      [
        'tools/call',
        {
          name: 'read_url',
          arguments: JSON.parse(
            jsonOf([
              ['url', name],
              [name, 1],
            ]),
          ),
        },
      ],
      ['tools/call', { name: 'read_url', arguments: { url: 'http://192.0.2.1/', options } }],
      ['prompts/get', { name, arguments: options }],
      ['resources/read', { uri: `${name}:${name}` }],
      [name, {}],
    ] as const) {
      const { status, text } = await call(method, params);
      expect([status, text], `${method} ${name}`).toEqual([200, expect.not.stringContaining('-32603')]);
    }
  }
});
