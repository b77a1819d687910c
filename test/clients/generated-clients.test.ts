/** Clients in TypeScript and Perl, generated from the OpenAPI documents, with a real server. */
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);
const LONG_MS = 240_000;
const SECRET = 'correct horse battery staple';
const FOLDER = import.meta.dirname;
const PROGRAM = path.join(FOLDER, 'node_modules', '.bin');
const hasTypes = existsSync(path.join(PROGRAM, 'openapi-typescript'));
const hasPerl = spawnSync('perl', ['-MOpenAPI::Client', '-e', '1']).status === 0;
/** The name of each API's document. */
const DOCUMENTS = { reader: 'reader', search: 'search', model: 'models', flow: 'flow', admin: 'admin' } as const;

let server: TestServer;
/** Located next to the packages of the clients, so that programs in it can import them. */
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(FOLDER, '.generated-'));
  server = await startServer({ browser: 'none', adminSecret: SECRET, adminPort: 0 });
  for (const [face, name] of Object.entries(DOCUMENTS)) {
    const document = await (await fetch(`${server.urls[face]}/openapi.json`)).text();
    await writeFile(path.join(folder, `${name}.json`), document);
  }
});
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true, force: true });
});

const setting = () => ({ urls: server.urls, key: server.app.firstKey, secret: SECRET });

it.skipIf(!hasTypes)(
  'types of openapi-typescript compile strictly, and calls with them work',
  { timeout: LONG_MS },
  async () => {
    await run(process.execPath, [path.join(FOLDER, 'generate-types.mjs'), folder]);
    await copyFile(path.join(FOLDER, 'typed-calls.mts'), path.join(folder, 'typed-calls.mts'));
    const strict = ['--strict', '--noUncheckedIndexedAccess', '--exactOptionalPropertyTypes', '--skipLibCheck'];
    const modules = ['--module', 'nodenext', '--target', 'es2022', '--lib', 'es2023,dom', '--types', 'node'];
    const compiled = await run(path.join(PROGRAM, 'tsc'), [...strict, ...modules, 'typed-calls.mts'], {
      cwd: folder,
    }).catch(({ stdout }) => ({ stdout }));
    expect(compiled.stdout).toBe('');
    const { stdout } = await run(process.execPath, [path.join(folder, 'typed-calls.mjs'), JSON.stringify(setting())]);
    const got = JSON.parse(stdout);
    expect(got.reader).toEqual({
      content: '# Tides\n\nTwice a day.',
      tokens: expect.any(Number),
      failure: 'ParamValidationError',
      listed: [],
    });
    expect(got.search.status).toBe(422);
    expect(got.models).toMatchObject({ entries: 2, best: 0, fields: ['body -> model'] });
    expect(got.models.models).toContain('lectern-static-v2');
    expect(got.flow).toEqual({ ids: ['a'], code: 0, hasDetail: true });
    expect(got.admin).toEqual({ plan: 'free', failure: 'ResourceNotFoundError' });
  },
);

/** The meta-schema of OpenAPI 3.1, which the Perl module would download. The documents are validated in other tests. */
const META_SCHEMA = 'https://spec.openapis.org/oas/3.1/schema/2021-05-20';

it.skipIf(!hasPerl)(
  'OpenAPI::Client in Perl refuses invalid requests, and finds answers valid',
  { timeout: LONG_MS },
  async () => {
    const cache = path.join(folder, 'meta');
    await mkdir(cache, { recursive: true });
    await writeFile(path.join(cache, createHash('md5').update(META_SCHEMA).digest('hex')), '{}');
    const env = { ...process.env, JSON_VALIDATOR_CACHE_PATH: cache };
    const { model, ...urls } = server.urls;
    const argument = JSON.stringify({ ...setting(), urls: { ...urls, models: model }, folder });
    const { stdout } = await run('perl', [path.join(FOLDER, 'openapi-client.pl'), argument], { env });
    expect(JSON.parse(stdout)).toEqual({
      reader: [
        ['reader_post_root', 200],
        ['reader_post_root', 409],
        ['reader_post_root', 'not sent'],
        ['crawl_list', 200],
        ['crawl_list', 'not sent'],
      ],
      search: [
        ['search_get', 422],
        ['search_get', 'not sent'],
      ],
      models: [
        ['embeddings_v1_embeddings_post', 200],
        ['embeddings_v1_embeddings_post', 400],
        ['embeddings_v1_embeddings_post', 'not sent'],
        ['list_models_v1_models_get', 200],
        ['get_model_v1_models__model_id__get', 404],
      ],
      flow: [
        ['post_index', 200],
        ['get_dry_run', 200],
        ['get_root', 200],
      ],
      admin: [
        ['listPlans', 200],
        ['listAccounts', 'not sent'],
        ['getAccount', 404],
      ],
    });
  },
);
