/** Section 4.5: triggers each kind of reader error and checks its status. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect } from 'vitest';
import { rawRequest } from '../support/raw-http.ts';
import { type Answer, type Headers, type ReaderHost, send, startReader, type Values } from './reader-host.ts';
import { hosted } from './seed.ts';

const HTML = '<title>Tea</title><p>Green tea is made from leaves that were not oxidised, and is drunk hot.</p>';
const MAX_FILE_BYTES = 2_000;

let host: ReaderHost;
let renderer: Server;
let folder: string;
/** The status that the rendering service returns. */
let rendererStatus = 200;

beforeAll(async () => {
  renderer = createServer((_, response) => {
    response.writeHead(rendererStatus, { 'content-type': 'application/json' }).end('{"success": false}');
  });
  await new Promise<void>((resolve) => renderer.listen(0, '127.0.0.1', resolve));
  folder = await mkdtemp(path.join(os.tmpdir(), 'lectern-blocked-'));
  const blockedUrlsFile = path.join(folder, 'blocked.txt');
  await writeFile(blockedUrlsFile, '*/harmful*\n');
  host = await startReader({
    pages: {
      '/robots.txt': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'text/plain' }).end('User-agent: *\nDisallow: /article\n'),
      '/large': ({ response }) =>
        void response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b\n'.repeat(MAX_FILE_BYTES)),
      '/small': ({ response }) => void response.writeHead(200, { 'content-type': 'text/csv' }).end('a,b\n1,2\n'),
    },
    settings: {
      maxFileBytes: MAX_FILE_BYTES,
      blockedUrlsFile,
      // There is no model server at this URL.
      chatUrl: 'http://127.0.0.1:9/v1',
      chatModel: 'nobody',
      cfUrl: `http://127.0.0.1:${(renderer.address() as AddressInfo).port}/client/v4`,
      cfAccount: 'account-1',
      cfToken: 'token-1',
      keylessFeatures: [],
      plans: { free: { reader: { requestsPerMinute: 2 } }, premium: { features: [] } },
    },
  });
});
afterAll(async () => {
  await host.close();
  renderer.close();
  await rm(folder, { recursive: true });
});

const page = (path: string) => ({ url: `${host.site.origin}${path}`, engine: 'direct' });
const read = (options: Values, headers: Headers = {}) => host.post(options, headers);

/** Creates an account and returns the header with its key. */
async function accountOf(plan: 'free' | 'paid' | 'premium', balance: number | null = null): Promise<Headers> {
  const { accounts } = host.server.app.accounts;
  const account = await accounts.createAccount({ name: plan, plan, balance });
  const { key } = await accounts.mintKey({ accountId: account.id, name: 'test' });
  return { authorization: `Bearer ${key}` };
}

/** Expects the status and kind of a failure, in the response and in its body. */
function expectFailure({ status, json }: Pick<Answer, 'status' | 'json'>, code: number, name: string): void {
  expect([status, json?.name, json?.code]).toEqual([code, name, code]);
  expect(json).toMatchObject({ data: null, status: expect.any(Number), message: expect.any(String) });
  expect(Math.floor(json.status / 100)).toBe(code);
  expect(json.readableMessage).toMatch(new RegExp(`^${name}(?:\\(\\w+\\))?: `));
}

hosted.row('4.5', '200 | Envelope (section 2)', async () => {
  const { status, json } = await host.read({ html: HTML });
  expect([status, json.code, json.status]).toEqual([200, 200, 20_000]);
  expect(json.data).toMatchObject({ title: 'Tea' });
  // An error status of the page itself is not a failure of the reader.
  expect(await read(page('/missing'))).toMatchObject({ status: 200, json: { code: 200, data: { targetStatus: 404 } } });
});

hosted.row('4.5', '400 | ParamValidationError, DataStreamBrokenError', async () => {
  expectFailure(await host.read({ html: HTML, timeout: 181 }), 400, 'ParamValidationError');
  const body = '--edge\r\nContent-Disposition: form-data; name="html"\r\n\r\n<p>It ends before';
  const headers = { 'content-type': 'multipart/form-data; boundary=edge' };
  expectFailure(await send(host.server.reader, { method: 'POST', headers, body }), 400, 'DataStreamBrokenError');
});

hosted.row('4.5', '401 | AuthenticationFailedError, AuthenticationRequiredError', async () => {
  expectFailure(
    await read({ html: HTML }, { authorization: 'Bearer lectern_unknown' }),
    401,
    'AuthenticationFailedError',
  );
  expectFailure(await read({ html: HTML, respondWith: 'readerlm-v2' }), 401, 'AuthenticationRequiredError');
});

hosted.row('4.5', '402 | TierFeatureConstraintError, InsufficientBalanceError', async () => {
  const scripted = { html: HTML, respondWith: 'readerlm-v2' };
  expectFailure(await read(scripted, await accountOf('premium')), 402, 'TierFeatureConstraintError');
  expectFailure(await read({ html: HTML }, await accountOf('paid', 0)), 402, 'InsufficientBalanceError');
});

hosted.row('4.5', '403 | OperationNotAllowedError, AbuseAlleviationError', async () => {
  // A URL that fails ten times within an hour is refused.
  for (let n = 0; n < 10; n++) expectFailure(await read(page('/loop')), 422, 'AssertionFailureError');
  expectFailure(await read(page('/loop')), 403, 'OperationNotAllowedError');
  // A web page of another site sends a request to a server that may read private networks.
  const lines = ['Origin: https://evil.example', 'User-Agent: Mozilla/5.0', 'Accept: application/json'];
  const { status, body } = await rawRequest(host.server.reader, {
    method: 'POST',
    lines,
    body: JSON.stringify({ html: HTML }),
  });
  expectFailure({ status, json: JSON.parse(body) }, 403, 'AbuseAlleviationError');
});

hosted.row('4.5', '409 | ResourcePolicyDenyError, BudgetExceededError', async () => {
  expectFailure(await read({ ...page('/article'), robotsTxt: 'true' }), 409, 'ResourcePolicyDenyError');
  expectFailure(await host.read({ html: HTML, tokenBudget: 5 }), 409, 'BudgetExceededError');
});

hosted.row('4.5', '413 | TargetFileTooLargeError', async () => {
  expectFailure(await read(page('/large')), 413, 'TargetFileTooLargeError');
  expect((await read(page('/small'))).status).toBe(200);
});

hosted.row(
  '4.5',
  '422 | SubmittedDataMalformedError, DownstreamServiceFailureError, AssertionFailureError',
  async () => {
    expectFailure(await host.read({ file: 'no base64!' }), 422, 'SubmittedDataMalformedError');
    expectFailure(
      await read({ html: HTML, respondWith: 'readerlm-v2' }, await accountOf('paid')),
      422,
      'DownstreamServiceFailureError',
    );
    expectFailure(await host.read({ html: HTML, targetSelector: '.none' }), 422, 'AssertionFailureError');
  },
);

hosted.row('4.5', '429 | RateLimitTriggeredError', async () => {
  const headers = await accountOf('free');
  for (let n = 0; n < 2; n++) expect((await read({ html: HTML }, headers)).status).toBe(200);
  const refused = await read({ html: HTML }, headers);
  expectFailure(refused, 429, 'RateLimitTriggeredError');
  expect(Number(refused.headers.get('retry-after'))).toBe(refused.json.retryAfter);
});

hosted.row(
  '4.5',
  '500 | DownstreamServiceError',
  async () => {
    rendererStatus = 401;
    expectFailure(await read({ ...page('/small'), engine: 'cf-browser-rendering' }), 500, 'DownstreamServiceError');
  },
  'The rendering service does not accept the token of this server. An unexpected failure is 500 too (`InternalError`).',
);

hosted.row(
  '4.5',
  '451 | HarmfulContentError',
  async () => {
    const refused = await read(page('/harmful/page'));
    expectFailure(refused, 451, 'HarmfulContentError');
    expect(refused.text).not.toContain('*/harmful*');
  },
  'For the URLs of the setting `blockedUrlsFile`, wherever they are requested or returned.',
);

hosted.row('4.5', '503 | ServiceNodeResourceDrainError', async () => {
  rendererStatus = 429;
  expectFailure(
    await read({ ...page('/small'), engine: 'cf-browser-rendering' }),
    503,
    'ServiceNodeResourceDrainError',
  );
});
