/**
 * `constructor`, `__proto__` and the other names that every object inherits, used in flows as names of executors and
 * endpoints, and as keys of tags, parameters, scores and results. Over each protocol, they must be treated like any
 * other name.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  type Call,
  createBuiltIns,
  createFlow,
  createFlowClient,
  createGrpcGateway,
  createRequest,
  Document,
  defineFlow,
  Executor,
  type Flow,
  parseFlow,
  requests,
} from '#flow/index.ts';
import { INHERITED_NAMES, jsonOf } from '#own-value.suite.ts';
import { type Served, serveFlow } from '../support/flow-gateway.ts';

/** Returns the parameters and the sources of the documents. */
class Teller extends Executor {
  static override readonly requests = requests<Teller>({ '/tell': 'tell', '/post': 'pass' });
  tell({ parameters, docsMap }: Call) {
    return { parameters, sources: Object.keys(docsMap ?? {}) };
  }
  pass() {}
}

const executors = INHERITED_NAMES.map((name) => ({ name, uses: Teller }));
let http: Served;
let webSocket: Served;
let grpcFlow: Flow;
let grpc: { port: number; close(): Promise<void> };
beforeAll(async () => {
  http = await serveFlow({ executors });
  webSocket = await serveFlow({ protocol: 'WEBSOCKET', executors });
  let builder = defineFlow({ protocol: 'GRPC' });
  for (const executor of executors) builder = builder.add(executor);
  grpcFlow = createFlow(builder.definition());
  await grpcFlow.start();
  const gateway = createGrpcGateway({ flow: grpcFlow, version: '1.2.3' });
  const { port } = await gateway.listen(0, '127.0.0.1');
  grpc = { port, close: () => gateway.close(1000) };
});
afterAll(async () => {
  await http.close();
  await webSocket.close();
  await grpc.close();
  await grpcFlow.close(1000);
});

const all = (value: (name: string) => unknown) =>
  JSON.parse(jsonOf(INHERITED_NAMES.map((name) => [name, value(name)])));
const scores = all((name) => ({ value: 1, opName: name }));

describe('over', () => {
  it.each([
    ['HTTP', () => http.url],
    ['WebSocket', () => webSocket.url],
    ['gRPC', () => `grpc://127.0.0.1:${grpc.port}`],
  ])('%s documents keep them', async (_, urlOf) => {
    const client = createFlowClient(urlOf());
    try {
      const doc = new Document({ text: 'x', tags: all((name) => ({ [name]: name })), scores, evaluations: scores });
      const [answered] = await client.post('/post', [doc], { parameters: all((name) => [name]) });
      expect(answered?.text).toBe('x');
      expect(JSON.stringify(answered?.tags)).toBe(JSON.stringify(doc.tags));
      expect(Object.keys(answered?.scores ?? {})).toEqual(INHERITED_NAMES);
      expect(Object.keys(answered?.evaluations ?? {})).toEqual(INHERITED_NAMES);
    } finally {
      await client.close();
    }
  });
});

const send = async (place: string, body: string) => {
  const answer = await fetch(http.url + place, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  return { status: answer.status, text: await answer.text() };
};

it('unknown keys of a document become tags', async () => {
  const { status, text } = await send('/post', jsonOf([['data', [all((name) => name)]]]));
  expect(status).toBe(200);
  expect(Object.keys(JSON.parse(text).data[0].tags)).toEqual(INHERITED_NAMES);
});

/** A key that begins with underscores cannot be the name of an executor. */
const isPlain = (name: string) => !name.startsWith('__');

it('each executor gets its own parameters, and its result has its name', async () => {
  const parameters = jsonOf([
    ...INHERITED_NAMES.filter(isPlain).map((name) => [`${name}__mark`, `for ${name}`] as const),
    ['plain', 1],
  ]);
  const { status, text } = await send(
    '/post',
    `{"data":[{"text":"x"}],"execEndpoint":"/tell","parameters":${parameters}}`,
  );
  expect([status, JSON.parse(text).header.status]).toEqual([200, null]);
  const results = JSON.parse(text).parameters.__results__;
  expect(Object.keys(results).sort()).toEqual(INHERITED_NAMES.map((name) => `${name}/rep-0`).sort());
  for (const name of INHERITED_NAMES) {
    const { __results__: _, ...got } = results[`${name}/rep-0`].parameters;
    expect(got, name).toEqual({ plain: 1, ...(isPlain(name) && { mark: `for ${name}` }) });
  }
});

it('as values they are rejected or taken literally, and never fail the server', async () => {
  for (const name of INHERITED_NAMES) {
    const bodies = [
      [['execEndpoint', name]],
      [['targetExecutor', name]],
      [['data', name]],
      [['data', [name]]],
      [['data', [{ tensor: name }]]],
      [['data', [{ blob: name }]]],
      [['data', [{ embedding: { [name]: [1] } }]]],
      [['parameters', name]],
      [['header', { [name]: name }]],
      [[name, name]],
    ] as const;
    for (const pairs of bodies) {
      const { status, text } = await send('/post', jsonOf(pairs));
      expect(status, `${jsonOf(pairs)} ${text}`).toBeLessThan(500);
    }
    for (const place of [`/${name}`, `/api/${name}`, `/${name}/${name}`])
      expect((await send(place, '{}')).status, place).toBeLessThan(500);
  }
});

it('endpoints have their own polling settings', async () => {
  const executor = defineFlow().add({ name: 'a', uses: Teller, shards: 2, polling: { '/x': 'ALL' } });
  const flow = createFlow(executor.definition());
  await flow.start();
  try {
    for (const name of INHERITED_NAMES) {
      const { header } = await flow.handle(createRequest({ endpoint: name, docs: [new Document('x')] }));
      expect(header.status, name).toBeUndefined();
    }
  } finally {
    await flow.close(1000);
  }
});

describe('in a file', () => {
  it.each(INHERITED_NAMES)('%s is no option, but a valid name of an executor', (name) => {
    const text = `jtype: Flow\n"${name}": 1\nwith:\n  "${name}": 2\nexecutors:\n  - name: "${name}"\n    uses: X\n    "${name}": 3\n    uses_with: { "${name}": "\${{ CONTEXT.${name} }}" }\n    when: { "tags__${name}": { $eq: 1 } }\n`;
    expect(() => parseFlow(text)).toThrow(`unknown option \`${name}\` of the flow: remove it`);
    const { warnings, deployments } = parseFlow(text, { lenient: true });
    expect(warnings.filter((warning) => warning.includes(name))).toHaveLength(3);
    expect(deployments[0]?.name).toBe(name);
    expect(deployments[0]?.source?.options).toEqual(JSON.parse(jsonOf([[name, `\${{ CONTEXT.${name} }}`]])));
  });

  it.each(INHERITED_NAMES)('%s is no operator, field or executor', async (name) => {
    const when = (condition: string) => () =>
      parseFlow(`jtype: Flow\nexecutors:\n  - name: a\n    uses: X\n    when: ${condition}\n`);
    expect(when(`{ tags__x: { "${name}": 1 } }`)).toThrow();
    expect(when(`{ "${name}": { $eq: 1 } }`)).toThrow();
    const flow = createFlow(defineFlow().add({ name: 'a', uses: name }).definition(), {
      executors: createBuiltIns({} as never),
    });
    await expect(flow.start()).rejects.toThrow(`there is no executor ${name}`);
    await flow.close(0);
  });
});
