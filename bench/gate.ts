/**
 * The cost of keys and limits per request: identification, admission, charge and settlement together, with and without
 * the journal of charges; and requests per second for an endpoint that does nothing, with and without admission. `npm
 * run bench:gate [-- --redis redis://…]`
 */
import { mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import {
  type AccessControl,
  type AccessRule,
  type Admission,
  createAccessControl,
  openAccounts,
} from '#accounts/index.ts';
import { createAccessHooks } from '#api/access-hooks.ts';
import { writeModelError } from '#api/envelopes/model.ts';
import { createServer } from '#http/server.ts';
import { PLANS, type Plans } from '#plans.ts';
import type { Counters } from '#storage/counters/counters.ts';
import { createMemoryCounters } from '#storage/counters/memory.ts';
import { openRedisCounters } from '#storage/counters/redis.ts';
import { createLog } from '#telemetry/log.ts';
import { ownBaseline, report } from './report.ts';
import { machine, sized } from './support.ts';

const { values } = parseArgs({ options: { redis: { type: 'string' } } });
const ROUNDS = sized(15, 1);
const log = createLog('silent');
const temporaryDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-bench-'));
const opened = await openAccounts({ dataDir: temporaryDir });
const account = await opened.accounts.createAccount({ name: 'bench', plan: 'premium' });
const { key } = await opened.accounts.mintKey({ accountId: account.id, name: 'bench' });

// Limits that are never reached, but are counted.
const endless = { requestsPerMinute: 1e9, tokensPerMinute: 1e12 };
const plans: Plans = {
  ...PLANS,
  premium: { ...PLANS.premium, concurrency: 1_000_000, endpoints: { ...PLANS.premium.endpoints, embeddings: endless } },
};
const ACCESS: AccessRule = { face: 'model', endpoint: 'embeddings', authorization: 'bearer', keyless: 'refused' };
const credentials = { authorization: [`Bearer ${key}`], clientIp: '127.0.0.1' };
const gateOver = (counters: Counters) =>
  createAccessControl({
    ...opened,
    counters,
    plans,
    auth: 'on',
    keylessRpm: 20,
    keylessFeatures: [],
    refusedRpm: 60,
  });

const median = (numbers: readonly number[]) => numbers.toSorted((a, b) => a - b)[numbers.length >> 1]!;

/** Requests that are answered at the same time. Their charges are written together. */
const AT_ONCE = 16;

/** One request with its charge. `beforeResponse` resolves when its answer may be sent. */
async function charge(gate: AccessControl, beforeResponse: (admission: Admission) => Promise<void>): Promise<void> {
  const admission = await gate.admit(ACCESS, credentials);
  await admission.reserveTokens(20);
  admission.recordCost({ tokens: 18, model: 'bench' });
  await beforeResponse(admission);
  admission.end(200);
}

const journaled = (admission: Admission) => new Promise<void>((resolve) => admission.beforeResponse(200, resolve));

let ending: Promise<void> | undefined;
/** Waits for the end of the tick, as the journal does, and writes nothing. */
const unwritten = () => {
  ending ??= yieldToEventLoop().then(() => {
    ending = undefined;
  });
  return ending;
};

/** Processor time of this process per call, in microseconds, including the writing of usage. */
async function costOf(counters: Counters, calls: number): Promise<[number, number]> {
  const gate = gateOver(counters);
  const costs: [number, number][] = [];
  const timed = async (beforeResponse: (admission: Admission) => Promise<void>) => {
    const before = process.cpuUsage();
    for (let call = 0; call < calls; call += AT_ONCE) {
      await Promise.all(Array.from({ length: AT_ONCE }, () => charge(gate, beforeResponse)));
    }
    await opened.usage.flush();
    const { user, system } = process.cpuUsage(before);
    return (user + system) / calls;
  };
  // In turns, because other programs may run on the machine.
  for (let round = 0; round <= ROUNDS; round++) {
    const cost: [number, number] = [await timed(unwritten), await timed(journaled)];
    if (round > 0) costs.push(cost);
  }
  return [median(costs.map(([without]) => without)), median(costs.map(([, with_]) => with_))];
}

async function rateOf(counters: Counters | undefined): Promise<number> {
  const face = await createServer({
    name: 'bench',
    log,
    temporaryDir,
    maxBodyBytes: 1_000_000,
    writeError: writeModelError,
    malformedBody: () => ({}),
  });
  const keeper = counters && createAccessHooks(gateOver(counters));
  if (keeper) face.addHook('onSend', keeper.beforeResponse);
  face.route({
    method: 'GET',
    url: '/',
    ...(keeper && { onRequest: keeper.hook(ACCESS, 'by kind') }),
    handler: async (_, reply) => reply.send('ok'),
  });
  await face.listen({ host: '127.0.0.1', port: 0 });
  const { port } = face.server.address() as AddressInfo;
  const rate = await load(port);
  await face.close();
  return rate;
}

/** Requests per second over 16 connections without pauses. */
async function load(port: number): Promise<number> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: 16 });
  const once = () =>
    new Promise<void>((resolve, reject) => {
      const headers = { authorization: `Bearer ${key}` };
      const request = http.get({ port, host: '127.0.0.1', agent, headers }, (answer) => {
        if (answer.statusCode !== 200) reject(new Error(`answered ${answer.statusCode}`));
        answer.resume().on('end', resolve);
      });
      request.on('error', reject);
    });
  const run = async (ms: number) => {
    const end = performance.now() + ms;
    let done = 0;
    await Promise.all(
      Array.from({ length: 16 }, async () => {
        for (; performance.now() < end; done++) await once();
      }),
    );
    return done / (ms / 1000);
  };
  await run(sized(500, 20));
  const rate = await run(sized(2_000, 50));
  agent.destroy();
  return rate;
}

const memory = createMemoryCounters();
const stores: [string, Counters, number][] = [['memory', memory, sized(20_000, 96)]];
if (values.redis) stores.push(['redis', await openRedisCounters(values.redis), 2_000]);
const costs: [string, number, number][] = [];
for (const [name, counters, calls] of stores) costs.push([name, ...(await costOf(counters, calls))]);
console.log(`${machine()}\n`);
console.log('µs of processor time a request:\n');
report('gate.cost', ['store', 'without the journal', 'with it'], costs);

const pairs: { bare: number; gated: number }[] = [];
for (let round = 0; round < sized(3, 1); round++)
  pairs.push({ bare: await rateOf(undefined), gated: await rateOf(memory) });
const bare = median(pairs.map((pair) => pair.bare));
const gated = median(pairs.map((pair) => pair.gated));
console.log('\nAn endpoint that does nothing, 16 connections, client in the same process:\n');
report(
  'gate.rate',
  ['requests/s', 'without keys and limits', 'with them', 'ratio'],
  [['16 connections', bare, gated, gated / bare]],
  { ratios: ['ratio'], baselines: [ownBaseline('the endpoint without keys and limits')] },
);
for (const [, counters] of stores) await counters.close();
await opened.close();
await rm(temporaryDir, { recursive: true, force: true });
