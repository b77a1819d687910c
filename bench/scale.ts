/**
 * What several server processes over one PostgreSQL and one Redis do on this machine, then also over one bucket if an S3
 * store is installed: requests a second and processor time for each request by API and by store, cost of sharing, cache
 * hits with a Zipf-like list of URLs, fetches for each URL, and whether a limit is exact:
 * `npm run bench:scale -- [--servers 1,2,4] [--set LECTERN_X=value]`
 *
 * `--set` adds a setting to the servers that share their stores, such as another store. The servers, the stores, the site
 * and the client share the processors, so that more processes than processors show only the cost.
 */
import { once } from 'node:events';
import http from 'node:http';
import os from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { findProgram } from '../test/support/start-services.ts';
import {
  LIMIT,
  makeKey,
  openStores,
  type ProcessorSeconds,
  processorSeconds,
  type Server,
  startServer,
} from './cluster.ts';
import { get } from './load.ts';
import { ownBaseline, programBaseline, report } from './report.ts';
import { articlePage, build, machine, residentMb, sized } from './support.ts';

const { values: flags } = parseArgs({
  options: {
    servers: { type: 'string', default: sized('1,2,4', '1,2') },
    seconds: { type: 'string', default: sized('6', '0.3') },
    set: { type: 'string', multiple: true, default: [] },
  },
});
const COUNTS = flags.servers.split(',').map(Number);
const SECONDS = Number(flags.seconds);
const AT_ONCE = 16;
/** Requests for each server before the measurement. */
const WARM_UP = sized(300, 1);
const ADDRESSES = sized(1_000, 20);
const ZIPF_READS = sized(4_000, 100);
const ELSEWHERE_READS = sized(1_000, 20);
const EXPECTED = 'Tea and rain';
/** Number of words of which each page and each document has three, and each query two. */
const WORDS = sized(500, 4);
/** Number of documents in the collection of the flow. */
const DOCUMENTS = sized(2_000, 40);

build();
const site = await startSite();
const stores = await openStores({ bucket: true });
const extra = Object.fromEntries(flags.set.map((given) => given.split(/=(.*)/s).slice(0, 2)));
const common = { LECTERN_ALLOW_NETWORKS: site.host, LECTERN_BROWSER: 'none' };
console.log(`${machine()}, load ${os.loadavg()[0]!.toFixed(1)}; ${AT_ONCE} connections, ${SECONDS} s each\n`);

/** A site that counts how often each of its pages was fetched. Each answer has other content, so each is stored. */
async function startSite() {
  const page = articlePage();
  let answers = 0;
  const fetches = new Map<string, number>();
  const server = http.createServer((request, response) => {
    if (request.url !== '/robots.txt') fetches.set(request.url!, (fetches.get(request.url!) ?? 0) + 1);
    response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
    response.end(page.replace('<p>', `<p>Answer ${++answers} of this site is about ${wordsOf(answers, 3)}. `));
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const host = `127.0.0.1:${(server.address() as { port: number }).port}`;
  return { host, fetches, page: (name: string | number) => `http://${host}/${name}`, close: () => server.close() };
}

type Call = (server: Server, key: string) => Promise<void>;

/** `expected` is part of every right answer. */
async function post(url: string, key: string, body: object, expected: string): Promise<void> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  const text = await answer.text();
  if (!answer.ok || !text.includes(expected)) throw new Error(`${url}: status ${answer.status}: ${text.slice(0, 300)}`);
}

const read =
  (headers: Record<string, string>, page: string | number = 'article'): Call =>
  async (server, key) => {
    const { status, body } = await get(
      `${server.url}/${site.page(page)}`,
      {
        authorization: `Bearer ${key}`,
        'x-engine': 'direct',
        ...headers,
      },
      agent,
    );
    if (status !== 200 || !body.includes(EXPECTED)) throw new Error(`status ${status}: ${body.slice(0, 300)}`);
  };
const agent = new http.Agent({ keepAlive: true, maxSockets: 64 });

const SYLLABLES = ['ba', 'de', 'fi', 'go', 'hu', 'ka', 'le', 'mi', 'no', 'pu'];
/** Words without a meaning, always the same ones for a number. */
function wordsOf(number: number, count: number): string {
  return Array.from({ length: count }, (_, at) => {
    const word = String((number * 7_919 + at * 104_729) % WORDS).padStart(3, '0');
    return [...word].map((digit) => SYLLABLES[Number(digit)]).join('');
  }).join(' ');
}

/** Each live read is of a page of its own, which fills the index. */
let liveReads = 0;
let queries = 0;
/** No list of results is in memory for it. */
const newQuery = () => `${wordsOf(++queries, 2)} ${queries}`;

/** Adds documents to the collection of the flow. */
async function addDocuments({ flowUrl }: Server, key: string): Promise<void> {
  const data = Array.from({ length: DOCUMENTS }, (_, at) => ({
    id: `document-${at}`,
    text: `${EXPECTED}: document ${at} is about ${wordsOf(at, 3)}.`,
  }));
  await post(`${flowUrl}/index`, key, { data }, '"indexed"');
}

const CACHED = 'read, cached';
const ELSEWHERE = 'read, cached by another server';
const WORK: readonly (readonly [string, Call])[] = [
  ['read, live', (server, key) => read({}, `live-${++liveReads}`)(server, key)],
  [CACHED, read({})],
  [
    'embed a text',
    (server, key) =>
      post(
        `${server.modelUrl}/v1/embeddings`,
        key,
        { model: 'lectern-static-v2', input: ['green tea is drunk hot'] },
        '"embedding"',
      ),
  ],
  [
    'search the local index',
    (server, key) => post(`${server.searchUrl}/search`, key, { q: newQuery(), respondWith: 'no-content' }, site.host),
  ],
  [
    'search through the compat API',
    (server, key) => post(`${server.compatUrl}/for/tavily/search`, key, { query: newQuery() }, site.host),
  ],
  ['flow, /search', (server, key) => post(`${server.flowUrl}/search`, key, { data: [{ text: newQuery() }] }, EXPECTED)],
];

interface Speed {
  readonly perSecond: number;
  /** Processor milliseconds for each request. */
  readonly used: ProcessorSeconds;
}

/** Calls the servers in turn. */
async function speedOf(servers: readonly Server[], key: string, call: Call): Promise<Speed> {
  let sent = 0;
  const during = async (seconds: number) => {
    const end = performance.now() + seconds * 1000;
    const client = async () => {
      while (performance.now() < end) await call(servers[sent++ % servers.length]!, key);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
  };
  // A server that has just started runs slower until its code is compiled.
  do await during(SECONDS / 3);
  while (sent < WARM_UP * servers.length);
  return measure(async () => {
    sent = 0;
    await during(SECONDS);
    return sent;
  });
}

/** Reads pages that the first server has stored, each once from one of the others. */
async function speedElsewhere([first, ...others]: readonly Server[], key: string): Promise<Speed> {
  const readAll = async (from: readonly Server[]) => {
    let next = 0;
    const client = async () => {
      while (next < ELSEWHERE_READS) {
        const at = next++;
        await read({}, `elsewhere-${at}`)(from[at % from.length]!, key);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, client));
    return next;
  };
  const fetches = () => [...site.fetches.values()].reduce((sum, count) => sum + count, 0);
  // A server that stores many copies at once leaves some out, so it reads until all are stored.
  for (let before = -1; fetches() > before; ) {
    before = fetches();
    await readAll([first!]);
    // A copy is stored after the answer.
    await setTimeout(2_000);
  }
  const before = fetches();
  const speed = await measure(() => readAll(others));
  if (fetches() > before) throw new Error(`${fetches() - before} pages were not read from the cache`);
  return speed;
}

/** Measures work that returns the number of its requests. */
async function measure(work: () => Promise<number>): Promise<Speed> {
  const [before, from] = [processorSeconds(), performance.now()];
  const requests = await work();
  const [after, took] = [processorSeconds(), (performance.now() - from) / 1000];
  const perRequest = (name: keyof typeof after) => (1000 * (after[name] - before[name])) / requests;
  return {
    perSecond: requests / took,
    used: {
      servers: perRequest('servers'),
      postgres: perRequest('postgres'),
      redis: perRequest('redis'),
      s3: perRequest('s3'),
    },
  };
}

async function withServers<T>(
  count: number,
  settings: Readonly<Record<string, string>>,
  work: (servers: readonly Server[]) => Promise<T>,
): Promise<T> {
  const servers: Server[] = [];
  try {
    // One after the other: the first creates the tables.
    for (let at = 0; at < count; at++) servers.push(await startServer({ ...common, ...settings }));
    return await work(servers);
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
  }
}

const speedRows: (string | number)[][] = [];
const memoryRows: (string | number)[][] = [];
const alone = new Map<string, Speed>();

function addSpeed(work: string, name: string, speed: Speed): void {
  const base = alone.get(work === ELSEWHERE ? CACHED : work)!;
  const total = ({ used: { servers, postgres, redis, s3 } }: Speed) => servers + postgres + redis + s3;
  const cost = 100 * (total(speed) / total(base) - 1);
  speedRows.push([
    work,
    name,
    speed.perSecond / base.perSecond,
    `${cost.toFixed(0)} %`,
    speed.perSecond,
    speed.used.servers,
    speed.used.postgres,
    speed.used.redis,
    speed.used.s3,
  ]);
}

/** Reads URLs whose frequency is inversely proportional to their rank, from the servers in turn. */
async function zipf(name: string, servers: readonly Server[], key: string): Promise<(string | number)[]> {
  site.fetches.clear();
  let seed = 7;
  const random = () => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
  const weights = Array.from({ length: ADDRESSES }, (_, rank) => 1 / (rank + 1));
  const total = weights.reduce((sum, weight) => sum + weight, 0);
  const pick = () => {
    let left = random() * total;
    for (const [rank, weight] of weights.entries()) {
      left -= weight;
      if (left <= 0) return rank;
    }
    return 0;
  };
  const list = Array.from({ length: ZIPF_READS }, pick);
  let next = 0;
  const client = async () => {
    while (next < list.length) {
      const at = next++;
      const url = `${servers[at % servers.length]!.url}/${site.page(`zipf-${list[at]}`)}`;
      const { status, body } = await get(url, { authorization: `Bearer ${key}`, 'x-engine': 'direct' }, agent);
      if (status !== 200) throw new Error(`status ${status}: ${body.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, client));
  const distinct = new Set(list).size;
  const fetched = [...site.fetches.values()].reduce((sum, count) => sum + count, 0);
  return [
    name,
    ZIPF_READS,
    distinct,
    fetched,
    fetched / distinct,
    `${(100 * (1 - fetched / ZIPF_READS)).toFixed(1)} %`,
    `${(100 * (1 - distinct / ZIPF_READS)).toFixed(1)} %`,
  ];
}

/** Sends more requests than the limit allows to all servers at once, and returns how many were admitted. */
async function admitted(servers: readonly Server[], key: string): Promise<number> {
  let [next, passed] = [0, 0];
  const client = async () => {
    while (next < LIMIT * 1.2) {
      const server = servers[next++ % servers.length]!;
      const headers = { authorization: `Bearer ${key}`, 'x-engine': 'direct' };
      const { status, body } = await get(`${server.url}/${site.page('article')}`, headers, agent);
      if (status === 200) passed++;
      else if (status !== 429) throw new Error(`status ${status}: ${body.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: 4 * AT_ONCE }, client));
  return passed;
}

try {
  await withServers(1, {}, async ([server]) => {
    const key = await makeKey(server!, 'premium');
    await addDocuments(server!, key);
    for (const [work, call] of WORK) {
      alone.set(work, await speedOf([server!], key, call));
      addSpeed(work, 'one, its own stores', alone.get(work)!);
    }
    memoryRows.push(['one, its own stores', residentMb(server!.pid), 0, 0]);
  });
  const zipfRows: (string | number)[][] = [];
  const limitRows: (string | number)[][] = [];
  for (const bucket of stores.s3 ? [false, true] : [false]) {
    for (const count of COUNTS) {
      const name = `${count}, shared stores${bucket ? ' and bucket' : ''}`;
      const shared = await stores.empty({ bucket });
      await withServers(count, { ...shared, ...extra }, async (servers) => {
        const key = await makeKey(servers[0]!, 'premium');
        await addDocuments(servers[0]!, key);
        for (const [work, call] of WORK) addSpeed(work, name, await speedOf(servers, key, call));
        if (count > 1) addSpeed(ELSEWHERE, name, await speedElsewhere(servers, key));
        const memoryMb = servers.reduce((sum, { pid }) => sum + residentMb(pid), 0) / count;
        const connections = await stores.connections();
        memoryRows.push([name, memoryMb, connections.postgres / count, connections.redis / count]);
        zipfRows.push(await zipf(name, servers, key));
        const limited = await makeKey(servers[0]!, 'paid');
        limitRows.push([name, LIMIT * 1.2, LIMIT, await admitted(servers, limited)]);
      });
    }
  }
  const baselines = [
    ownBaseline('one server with its own stores'),
    programBaseline('PostgreSQL', findProgram('postgres') ?? 'postgres', '--version'),
    programBaseline('Redis', findProgram('redis-server', 'valkey-server') ?? 'redis-server', '--version'),
  ];
  const order = [...WORK.map(([work]) => work), ELSEWHERE];
  speedRows.sort(([a], [b]) => order.indexOf(a as string) - order.indexOf(b as string));
  const heads = [
    'work',
    'servers',
    'times one',
    'cost of sharing',
    'requests/s',
    'CPU ms a request: servers',
    'PostgreSQL',
    'Redis',
    'S3 store',
  ];
  report('scale.speed', heads, speedRows, { ratios: ['times one', 'cost of sharing'], baselines });
  console.log('');
  report('scale.memory', ['servers', 'MB resident of each', 'PostgreSQL connections', 'Redis connections'], memoryRows);
  console.log('');
  report('scale.cache', ['servers', 'reads', 'URLs', 'fetches', 'fetches a URL', 'hits', 'most possible'], zipfRows);
  console.log('');
  report('scale.limits', ['servers', 'requests in a minute', 'limit', 'admitted'], limitRows);
} finally {
  agent.destroy();
  await stores.close();
  site.close();
}
