/** An accounts module in a separate process, for tests of several processes that share a database. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type AccountsModule, type AccountsModuleOptions, type Charge, openAccounts } from '#accounts/index.ts';
import { bundleProcess } from './bundled.ts';

interface Calls {
  open(options: AccountsModuleOptions): Promise<void>;
  mint(accountId: string): Promise<string>;
  identify(key: string): Promise<string | null>;
  /** Requests holds concurrently; returns the tokens of each. */
  holds(accountId: string, count: number, wanted: number, least: number): Promise<number[]>;
  /** Resolves once the charges are written. */
  charge(charges: readonly Charge[]): Promise<void>;
  close(): Promise<void>;
}

type Name = keyof Calls;

interface Message {
  readonly number: number;
  readonly name: Name;
  readonly values: never[];
}

export interface AccountsProcess {
  call<N extends Name>(name: N, ...values: Parameters<Calls[N]>): Promise<Awaited<ReturnType<Calls[N]>>>;
  readonly child: ChildProcess;
}

const FILE = fileURLToPath(import.meta.url);
let bundle: Promise<string> | undefined;

export async function startAccountsProcess(): Promise<AccountsProcess> {
  bundle ??= bundleProcess(FILE);
  const child = fork(await bundle, [], { execArgv: [] });
  let calls = 0;
  return {
    child,
    call: (name, ...values) =>
      new Promise((resolve, reject) => {
        const number = ++calls;
        const listen = (answer: { number: number; value?: never; failure?: string }) => {
          if (answer.number !== number) return;
          child.off('message', listen);
          child.off('exit', gone);
          if (answer.failure === undefined) resolve(answer.value as never);
          else reject(new Error(answer.failure));
        };
        const gone = () => reject(new Error('the process ended'));
        child.on('message', listen);
        child.once('exit', gone);
        child.send({ number, name, values });
      }),
  };
}

function answerCalls(): void {
  let module: AccountsModule;
  const calls: Calls = {
    async open(options) {
      module = await openAccounts(options);
    },
    mint: async (accountId) => (await module.accounts.mintKey({ accountId, name: 'from elsewhere' })).key,
    identify: async (key) => (await module.accounts.identify(key))?.key.id ?? null,
    async holds(accountId, count, wanted, least) {
      const asked = Array.from({ length: count }, () => module.usage.hold(accountId, { wanted, least }));
      return (await Promise.all(asked)).map((hold) => hold?.tokens ?? 0);
    },
    async charge(charges) {
      for (const charge of charges) module.usage.charge(charge);
      await module.usage.flush();
    },
    close: () => module.close(),
  };
  process.on('message', async ({ number, name, values }: Message) => {
    try {
      const call = calls[name] as (...values: never[]) => Promise<unknown>;
      process.send!({ number, value: await call(...values) });
    } catch (error) {
      process.send!({ number, failure: String(error) });
    }
  });
}

if (process.argv[1] === FILE && process.send) answerCalls();
