/**
 * A server process whose only endpoint charges what its caller asks for, for tests that kill it. It sends its port to its
 * parent.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import { type AccessRule, type AccountsModuleOptions, createAccessControl, openAccounts } from '#accounts/index.ts';
import { createAccessHooks } from '#api/access-hooks.ts';
import { writeModelError } from '#api/envelopes/model.ts';
import { createServer } from '#http/server.ts';
import { PLANS } from '#plans.ts';
import { createMemoryCounters } from '#storage/counters/memory.ts';
import { createLog } from '#telemetry/log.ts';
import { bundleProcess } from './bundled.ts';

export interface ChargingProcess {
  /** Calls the endpoint, which charges `tokens`. Returns what the answer says it cost; `undefined` if none came. */
  charge(key: string, tokens: number): Promise<number | undefined>;
  kill(): Promise<void>;
}

type Options = Pick<AccountsModuleOptions, 'dataDir' | 'databaseUrl' | 'keyGraceMs'>;

const FILE = fileURLToPath(import.meta.url);
const ACCESS: AccessRule = { face: 'model', endpoint: 'embeddings', authorization: 'bearer', keyless: 'refused' };
let bundle: Promise<string> | undefined;

export async function startChargingProcess(options: Options): Promise<ChargingProcess> {
  bundle ??= bundleProcess(FILE);
  const child: ChildProcess = fork(await bundle, [JSON.stringify(options)], { execArgv: [] });
  const port = await new Promise<number>((resolve, reject) => {
    child.once('message', resolve as (message: unknown) => void);
    child.once('exit', () => reject(new Error('the process ended')));
  });
  return {
    async charge(key, tokens) {
      try {
        const headers = { authorization: `Bearer ${key}` };
        const answer = await fetch(`http://127.0.0.1:${port}/${tokens}`, { headers });
        if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
        return ((await answer.json()) as { tokens: number }).tokens;
      } catch (error) {
        if (child.killed) return undefined;
        throw error;
      }
    },
    async kill() {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    },
  };
}

async function serve(options: Options): Promise<void> {
  const accountsModule = await openAccounts(options);
  const hooks = createAccessHooks(
    createAccessControl({
      ...accountsModule,
      counters: createMemoryCounters(),
      plans: PLANS,
      auth: 'on',
      keylessRpm: 0,
      keylessFeatures: [],
      refusedRpm: 60,
    }),
  );
  const face = await createServer({
    name: 'charging',
    log: createLog('warn'),
    temporaryDir: options.dataDir,
    maxBodyBytes: 1_000,
    writeError: writeModelError,
    malformedBody: () => ({}),
  });
  face.addHook('onSend', hooks.beforeResponse);
  face.route<{ Params: { tokens: string } }>({
    method: 'GET',
    url: '/:tokens',
    onRequest: hooks.hook(ACCESS, 'by kind'),
    handler: async (request, reply) => {
      const tokens = Number(request.params.tokens);
      hooks.admissionOf(request).recordCost({ tokens, model: 'm' });
      return reply.send({ tokens });
    },
  });
  await face.listen({ host: '127.0.0.1', port: 0 });
  process.send!((face.server.address() as AddressInfo).port);
}

if (process.argv[1] === FILE && process.send) await serve(JSON.parse(process.argv[2]!) as Options);
