/** The official MCP inspector, as a command, with both transports. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Site, startSite } from '../site/site.ts';
import { programFile } from '../support/program.ts';
import { startServer, type TestServer } from '../support/server.ts';

const run = promisify(execFile);
const INSPECTOR = path.join(
  import.meta.dirname,
  'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
);
/** Each call starts the inspector, and over standard input and output a server too. */
const LONG_MS = 120_000;

let site: Site;
let server: TestServer;
let dir: string;

beforeAll(async () => {
  site = await startSite({
    '/tea': `<title>Tea</title><main><h1>Tea</h1>${'<p>Green tea is drunk hot.</p>'.repeat(400)}</main>`,
  });
  server = await startServer({ browser: 'none', allowNetworks: site.allow.join(',') });
  dir = await mkdtemp(path.join(os.tmpdir(), 'lectern-inspector-'));
});
afterAll(async () => {
  await server.close();
  await site.close();
  await rm(dir, { recursive: true, force: true });
});

interface Answer {
  // biome-ignore lint/suspicious/noExplicitAny: tests read any field of the results
  readonly [field: string]: any;
}

async function inspect(target: readonly string[], ...args: string[]): Promise<Answer> {
  // The inspector keeps its list of servers at home.
  const env = { PATH: process.env.PATH, HOME: dir };
  const { stdout } = await run(process.execPath, [INSPECTOR, '--cli', ...target, ...args], { env, cwd: dir });
  return JSON.parse(stdout);
}

describe.each(['stdio', 'http'])('the inspector over %s', (transport) => {
  const target = async () =>
    transport === 'http'
      ? [`${server.reader}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${server.app.firstKey}`]
      : [
          ...['-e', `LECTERN_DATA_DIR=${path.join(dir, 'data')}`],
          ...['-e', `LECTERN_ALLOW_NETWORKS=${site.allow.join(',')}`],
          ...[process.execPath, await programFile(), 'mcp'],
        ];

  it(
    'lists tools, resources and prompts',
    async () => {
      const { tools } = await inspect(await target(), '--method', 'tools/list');
      expect(tools.map(({ name }: Answer) => name)).toContain('read_url');
      const { resources } = await inspect(await target(), '--method', 'resources/list');
      expect(resources.map(({ uri }: Answer) => uri)).toContain('lectern://options');
      const { prompts } = await inspect(await target(), '--method', 'prompts/list');
      expect(prompts).toHaveLength(2);
    },
    LONG_MS,
  );

  it(
    'reads a page in parts, and computes structured results',
    async () => {
      const call = async (name: string, ...args: string[]) =>
        inspect(await target(), '--method', 'tools/call', '--tool-name', name, ...args);
      const page = await call('read_url', '--tool-arg', `url=${site.origin}/tea`, '--tool-arg', 'max_tokens=600');
      expect(page.content[0].text).toContain('Green tea is drunk hot.');
      expect(page.content[1]).toMatchObject({
        type: 'resource_link',
        uri: expect.stringMatching(/^lectern:\/\/rest\//),
      });
      const texts = JSON.stringify(['The cat sat.', 'The cat sat.', 'Stocks fell.']);
      const { structuredContent } = await call('deduplicate', '--tool-arg', `texts=${texts}`);
      expect(structuredContent).toMatchObject({ kept: [0, 2], dropped: [{ index: 1, like: 0 }] });
    },
    LONG_MS,
  );
});
