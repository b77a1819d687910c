/**
 * Each version of the OpenAPI document of the flow gateway: it must be complete, and match real requests and responses.
 */
import { Validator } from '@seriousme/openapi-schema-validator';
import { describe, expect, it, onTestFinished } from 'vitest';
import { INTERFACE_VERSIONS } from '#generated/interface-versions.ts';
import { Marker, type ServeOptions, serveFlow } from '../support/flow-gateway.ts';
import { type ExampleRequest, readOpenApi, sendExample } from '../support/openapi.ts';

const TOKEN = 'a-token-of-the-gateway';

async function describeFlow(options: ServeOptions) {
  const served = await serveFlow({ executors: [{ uses: Marker }], ...options });
  onTestFinished(() => served.close());
  const url = served.url.replace(/^ws/, 'http');
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of a document
  const document: any = await (
    await fetch(`${url}/openapi.json`, { headers: { authorization: `Bearer ${TOKEN}` } })
  ).json();
  const api = readOpenApi(document);
  const requestsOf = (id: string) => api.requestsOf(api.operations.find((one) => one.id === id)!);
  /** Sends an example and validates the response against the document. */
  async function run(request: ExampleRequest, headers: Record<string, string> = {}) {
    const answer = await sendExample(url, request, { headers });
    api.expectAnswer(request.id, answer);
    return answer;
  }
  return { document, api, requestsOf, run };
}

describe.each(['1', '2', '3'])('version %s', (restApiVersion) => {
  it.each(['HTTP', 'WEBSOCKET'] as const)('%s: every example is answered as described', async (protocol) => {
    const { document, api, run } = await describeFlow({
      protocol,
      restApiVersion,
      exposeEndpoints: { '/foo': { methods: ['POST', 'PUT'], tags: ['Mine'] } },
    });
    expect(await new Validator().validate(structuredClone(document))).toMatchObject({ valid: true });
    expect(document.info.version).toBe(INTERFACE_VERSIONS.flow.version);
    const names = ['JinaRequestModel', 'JinaResponseModel', 'PydanticDocument', 'HTTPValidationError'];
    expect(Object.keys(document.components.schemas)).toEqual(expect.arrayContaining(names));
    api.expectExamples();
    for (const request of api.operations.flatMap((one) => api.requestsOf(one))) {
      expect([request.id, (await run(request)).status]).toEqual([request.id, 200]);
    }
  });
});

it('a whole document, scores and nested ones are as described', async () => {
  const { run, requestsOf } = await describeFlow({});
  const scores = { close: { value: 0.5 } };
  const document = { tensor: [[1, 2]], uri: 'a', weight: 1, offset: 2, location: [1], modality: 'm' };
  const body = {
    data: [{ ...document, scores, evaluations: scores, chunks: [{ text: 'b' }], matches: [{ text: 'c' }] }],
  };
  const answer = await run({ ...requestsOf('post_index')[0]!, body });
  expect(JSON.parse(answer.text).data[0].chunks[0].granularity).toBe(1);
});

it('failures are as described', async () => {
  const { run, requestsOf } = await describeFlow({ maxBodyBytes: 2_000 });
  const post = requestsOf('post_post')[0]!;
  const status = async (more: Partial<ExampleRequest>, of = post) => (await run({ ...of, ...more })).status;
  const failed = await run({ ...post, body: { data: [{}], execEndpoint: '/fail' } });
  expect([failed.status, JSON.parse(failed.text).header.status.code]).toEqual([200, 1]);
  expect(await status({ body: { data: 3 } })).toBe(422);
  expect(await status({ body: { data: [{ text: 'a'.repeat(3_000) }] } })).toBe(413);
  expect(await status({ body: { targets: ['nothing'] } }, requestsOf('post_reload')[0])).toBe(404);
  const mode = requestsOf('post_api_mode')[0]!;
  expect(await status({ inPath: { mode: 'foo' } }, mode)).toBe(405);
  expect(await status({ body: {} }, mode)).toBe(406);
  expect(await status({ inPath: { mode: 'control' }, body: { command: 'STATUS' } }, mode)).toBe(200);
});

it('a timeout, a failed executor as 500, and a missing token are as described', async () => {
  const { run, requestsOf } = await describeFlow({ token: TOKEN, failuresAre500: true, requestTimeout: 200 });
  const post = requestsOf('post_post')[0]!;
  const authorized = { authorization: `Bearer ${TOKEN}` };
  expect((await run(post)).status).toBe(401);
  expect((await run(requestsOf('get_root')[0]!)).status).toBe(200);
  const failing = { ...post, body: { data: [{}], execEndpoint: '/fail' } };
  expect((await run(failing, authorized)).status).toBe(500);
  const waiting = { ...post, body: { execEndpoint: '/wait', parameters: { ms: 60_000 } } };
  expect((await run(waiting, authorized)).status).toBe(504);
});
