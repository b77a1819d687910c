/** The database servers of the tests keep their data across a restart, and exit together with their owner. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { createClient } from '@redis/client';
import pg from 'pg';
import { describe, expect, it } from 'vitest';
import { postgresUrl, redisUrl, startPostgres, startRedis, startSmallPostgres } from './services.ts';
import { findProgram } from './start-services.ts';

const hasPostgres = findProgram('postgres') !== undefined;
const hasRedis = findProgram('redis-server', 'valkey-server') !== undefined;

async function query(url: string, text: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe.skipIf(!hasPostgres)('PostgreSQL', () => {
  it('gives each caller an empty database', async () => {
    const [one, other] = [(await postgresUrl())!, (await postgresUrl())!];
    expect(one).not.toBe(other);
    await query(one, 'CREATE TABLE tea (name TEXT)');
    await expect(query(other, 'SELECT * FROM tea')).rejects.toThrow('does not exist');
  });

  it('keeps its data over a restart', async () => {
    const service = (await startPostgres())!;
    await query(service.url, 'CREATE TABLE tea (name TEXT)');
    for (const end of [service.stop, service.kill]) {
      await end();
      await expect(query(service.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
      await service.start();
      expect(await query(service.url, 'SELECT * FROM tea')).toEqual([]);
    }
    await service.close();
    await expect(query(service.url, 'SELECT 1')).rejects.toThrow('ECONNREFUSED');
  });
});

describe.skipIf(!hasPostgres)('PostgreSQL on a small disk', () => {
  it('refuses writes while the disk is full', { timeout: 120_000 }, async ({ skip }) => {
    const service = await startSmallPostgres();
    if (!service) return skip('private file systems are not permitted here (unshare -rm)');
    await query(service.url, 'CREATE TABLE tea (name TEXT)');
    const insert = () => query(service.url, "INSERT INTO tea SELECT 'assam' FROM generate_series(1, 10000)");
    await insert();
    await service.fill();
    await expect(insert()).rejects.toMatchObject({ code: '53100' });
    expect(await query(service.url, 'SELECT count(*) AS n FROM tea')).toEqual([{ n: '10000' }]);
    await service.free();
    await insert();
    await service.close();
  });
});

describe.skipIf(!hasRedis)('Redis', () => {
  it('gives each caller an empty database, and restarts', async () => {
    const service = (await startRedis())!;
    const [one, other] = [(await redisUrl())!, (await redisUrl())!];
    expect(await ping(one)).toBe('PONG');
    expect(one).not.toBe(other);
    for (const end of [service.stop, service.kill]) {
      await end();
      await expect(ping(service.url)).rejects.toThrow();
      await service.start();
      expect(await ping(service.url)).toBe('PONG');
    }
    await service.close();
  });
});

async function ping(url: string): Promise<string> {
  const client = createClient({ url, socket: { reconnectStrategy: false } });
  client.on('error', () => {});
  await client.connect();
  const answer = await client.ping();
  client.destroy();
  return answer;
}

it.skipIf(!hasRedis || !hasPostgres)('ends them when their owner is killed', async () => {
  const script = `
    const { startPostgres, startRedis } = await import('./test/support/start-services.ts');
    const services = await Promise.all([startPostgres(), startRedis()]);
    console.log(JSON.stringify(services.map(({ url }) => url)));
    setInterval(() => {}, 1000);`;
  const owner = spawn(
    process.execPath,
    ['--conditions=source', '--import', 'tsx', '--input-type=module', '-e', script],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  );
  const [line] = await once(createInterface({ input: owner.stdout }), 'line');
  const [postgres, redis] = JSON.parse(line) as [string, string];
  expect(await ping(redis)).toBe('PONG');
  owner.kill('SIGKILL');
  await expect.poll(() => ping(redis).catch(() => 'away'), { timeout: 20_000 }).toBe('away');
  await expect.poll(() => query(postgres, 'SELECT 1').catch(() => 'away'), { timeout: 20_000 }).toBe('away');
});

describe.skipIf(process.platform !== 'linux')('a missing tool', () => {
  /** The output on a machine whose only package manager is this script. */
  const outputWith = (aptGet: string) => {
    const folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-tools-'));
    try {
      const program = path.join(folder, 'apt-get');
      writeFileSync(program, `#!/bin/sh\ncd ${folder}\n${aptGet}`);
      chmodSync(program, 0o755);
      writeFileSync(path.join(folder, 'calls'), '');
      const script = "import('./scripts/test-tools.mjs').then(({ ensureTestTools }) => ensureTestTools(console.log))";
      const lines = execFileSync(process.execPath, ['-e', script], { env: { PATH: folder }, encoding: 'utf8' });
      return { lines, calls: readFileSync(path.join(folder, 'calls'), 'utf8') };
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

  it.skipIf(process.getuid?.() !== 0)('is installed by root', () => {
    const { lines, calls } = outputWith(
      'echo "$@" >> calls; if [ "$1" = install ]; then : > redis-server; /bin/chmod +x redis-server; fi',
    );
    expect(calls).toMatch(/install .*redis-server/);
    expect(lines).toMatch(/installing .*redis-server/);
    expect(lines).toContain('pdftotext is not installed');
    expect(lines).not.toContain('redis-server is not installed');
  });

  it('is named if it cannot be installed', () => {
    const { lines } = outputWith('echo "$@" >> calls; [ "$1" = --version ]');
    expect(lines).toContain('redis-server is not installed: skipping tests that need it');
  });
});
