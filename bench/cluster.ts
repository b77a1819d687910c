/** Several server processes over one PostgreSQL, one Redis and one S3 store, for the benchmarks of scaling and of long runs. */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { createClient } from '@redis/client';
import pg from 'pg';
import { freePorts } from '../test/support/free-ports.ts';
import { startPostgres, startRedis, startS3 } from '../test/support/start-services.ts';
import { type Running, serve } from './support.ts';

/** No limits for the accounts that measure speed, and one of `LIMIT` requests per minute for the exactness of limits. */
export const LIMIT = 1_000;
const UNLIMITED = { requestsPerMinute: 'none' };
const PLANS = {
  premium: {
    concurrency: 'none',
    reader: UNLIMITED,
    search: UNLIMITED,
    embeddings: { ...UNLIMITED, tokensPerMinute: 'none' },
    rerank: { ...UNLIMITED, tokensPerMinute: 'none' },
    chat: { ...UNLIMITED, tokensPerMinute: 'none' },
  },
  paid: { concurrency: 'none', reader: { requestsPerMinute: LIMIT } },
};

export const ADMIN_SECRET = randomBytes(24).toString('hex');

export interface Server extends Running {
  readonly adminUrl: string;
  readonly modelUrl: string;
  readonly flowUrl: string;
  readonly searchUrl: string;
  readonly compatUrl: string;
}

export interface Stores {
  readonly postgres: NonNullable<Awaited<ReturnType<typeof startPostgres>>>;
  readonly redis: NonNullable<Awaited<ReturnType<typeof startRedis>>>;
  /** `undefined` if none was asked for, or none is installed. */
  readonly s3: Awaited<ReturnType<typeof startS3>>;
  /** Settings of servers that share an empty database, other counters and, if `bucket` is set, an empty bucket. */
  empty(options?: { readonly bucket?: boolean }): Promise<Readonly<Record<string, string>>>;
  /** Connections to PostgreSQL and to Redis, without those of this process. */
  connections(): Promise<{ readonly postgres: number; readonly redis: number }>;
  close(): Promise<void>;
}

/** With `bucket`, an S3 store too, if one is installed. */
export async function openStores({ bucket: wantsBucket }: { readonly bucket: boolean }): Promise<Stores> {
  const [postgres, redis, s3] = await Promise.all([startPostgres(), startRedis(), wantsBucket ? startS3() : undefined]);
  if (!postgres || !redis) {
    await postgres?.close();
    await redis?.close();
    await s3?.close();
    throw new Error('PostgreSQL and Redis are needed: npm test installs them on Debian');
  }
  let databases = 0;
  return {
    postgres,
    redis,
    s3,
    async empty({ bucket = false } = {}) {
      const name = `bench_${randomBytes(4).toString('hex')}`;
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      const url = new URL(postgres.url);
      url.pathname = `/${name}`;
      databases += 1;
      const settings = { LECTERN_DATABASE_URL: url.href, LECTERN_REDIS_URL: `${redis.url}/${databases}` };
      if (!bucket) return settings;
      if (!s3) throw new Error('An S3 store is needed: npm test installs OpenStack Swift on Debian');
      await s3.makeBucket(`bench-${databases}`);
      return {
        ...settings,
        LECTERN_BLOBS_URL: `s3://bench-${databases}/lectern`,
        LECTERN_BLOBS_ENDPOINT: s3.url,
        LECTERN_BLOBS_ACCESS_KEY: s3.credentials.accessKeyId,
        LECTERN_BLOBS_SECRET_KEY: s3.credentials.secretAccessKey,
      };
    },
    async connections() {
      const client = new pg.Client({ connectionString: postgres.url });
      await client.connect();
      const { rows } = await client.query<{ count: string }>(
        "SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()",
      );
      await client.end();
      const asking = createClient({ url: redis.url });
      await asking.connect();
      const clients = await asking.sendCommand<string>(['CLIENT', 'LIST']);
      asking.destroy();
      return { postgres: Number(rows[0]!.count), redis: clients.trim().split('\n').length - 1 };
    },
    async close() {
      await postgres.close();
      await redis.close();
      await s3?.close();
    },
  };
}

/** Starts a server whose APIs have known ports. */
export async function startServer(settings: Readonly<Record<string, string>>): Promise<Server> {
  const first = await freePorts(5);
  const [modelPort, flowPort, adminPort, searchPort, compatPort] = [0, 1, 2, 3, 4].map((at) => first + at);
  const running = await serve({
    LECTERN_PLANS: JSON.stringify(PLANS),
    LECTERN_MODEL_PORT: String(modelPort),
    LECTERN_FLOW_PORT: String(flowPort),
    LECTERN_ADMIN_PORT: String(adminPort),
    LECTERN_SEARCH_PORT: String(searchPort),
    LECTERN_COMPAT_PORT: String(compatPort),
    LECTERN_ADMIN_SECRET: ADMIN_SECRET,
    ...settings,
  });
  const urlOf = (port: number | undefined) => `http://127.0.0.1:${port}`;
  return {
    ...running,
    modelUrl: urlOf(modelPort),
    flowUrl: urlOf(flowPort),
    adminUrl: urlOf(adminPort),
    searchUrl: urlOf(searchPort),
    compatUrl: urlOf(compatPort),
  };
}

export interface Account {
  readonly id: string;
  readonly key: string;
}

/** Makes an account and a key of it. Without a balance, nothing limits what it may use. */
export async function makeAccount(
  { adminUrl }: Pick<Server, 'adminUrl'>,
  plan: 'paid' | 'premium',
  balance?: number,
): Promise<Account> {
  const { id } = await callAdmin<{ id: string }>(adminUrl, '/accounts', { name: 'bench', plan, balance });
  const { key } = await callAdmin<{ key: string }>(adminUrl, '/keys', { name: 'bench', accountId: id });
  return { id, key };
}

export const makeKey = async (server: Server, plan: 'paid' | 'premium'): Promise<string> =>
  (await makeAccount(server, plan)).key;

/** What is left on the account. */
export const balanceOf = async ({ adminUrl }: Pick<Server, 'adminUrl'>, { id }: Account): Promise<number> =>
  (await callAdmin<{ balance: number }>(adminUrl, `/accounts/${id}`)).balance;

async function callAdmin<T>(url: string, place: string, body?: object): Promise<T> {
  const headers = { authorization: `Bearer ${ADMIN_SECRET}`, 'content-type': 'application/json' };
  const answer = await fetch(url + place, {
    headers,
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  });
  if (!answer.ok) throw new Error(`${place}: status ${answer.status}: ${await answer.text()}`);
  return ((await answer.json()) as { data: T }).data;
}

export interface ProcessorSeconds {
  readonly servers: number;
  readonly postgres: number;
  readonly redis: number;
  readonly s3: number;
}

const TICKS_PER_SECOND = 100;

/** Processor time so far of all processes that this one has started, by what they are. */
export function processorSeconds(): ProcessorSeconds {
  const children = new Map<number, { parent: number; command: string; seconds: number }>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      const end = stat.lastIndexOf(')');
      const fields = stat.slice(end + 2).split(' ');
      // State, parent, …; 11 to 14 are the times of the process and of the children that have ended.
      const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
      const command = stat.slice(stat.indexOf('(') + 1, end);
      children.set(Number(name), { parent: Number(fields[1]), command, seconds: ticks / TICKS_PER_SECOND });
    } catch {
      // The process has exited since it was listed.
    }
  }
  const isOurs = (id: number): boolean => {
    for (let at = children.get(id)?.parent; at; at = children.get(at)?.parent) if (at === process.pid) return true;
    return false;
  };
  const sums = { servers: 0, postgres: 0, redis: 0, s3: 0 };
  for (const [id, { command, seconds }] of children) {
    if (!isOurs(id)) continue;
    if (command.startsWith('postgres')) sums.postgres += seconds;
    else if (/^(redis|valkey)/.test(command)) sums.redis += seconds;
    // Swift is a Python program.
    else if (command.startsWith('python')) sums.s3 += seconds;
    else sums.servers += seconds;
  }
  return sums;
}
