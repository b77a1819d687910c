/**
 * The accounts module in a separate process, for tests of state that several processes share. The parent calls it
 * through `call`.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type AccountsModule, type AccountsModuleOptions, type Charge, openAccounts } from '#accounts/index.ts';
import { bundleProcess } from './bundled.ts';

interface Calls {
  open(options: AccountsModuleOptions): Promise<void>;
  mint(accountId: string): Promise<string>;
  identify(key: string): Promise<string | null>;
  /** Makes `count` reservations of tokens at once. Returns the number of tokens that each reservation received. */
  holds(accountId: string, count: number, wanted: number, least: number): Promise<number[]>;
  /** Resolves when the charges have been written. */
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
  let callCount = 0;
  return {
    child,
    call: (name, ...values) =>
      new Promise((resolve, reject) => {
        const number = ++callCount;
        const handleAnswer = (answer: { number: number; value?: never; failure?: string }) => {
          if (answer.number !== number) return;
          child.off('message', handleAnswer);
          child.off('exit', rejectOnExit);
          if (answer.failure === undefined) resolve(answer.value as never);
          else reject(new Error(answer.failure));
        };
        const rejectOnExit = () => reject(new Error('the process ended'));
        child.on('message', handleAnswer);
        child.once('exit', rejectOnExit);
        child.send({ number, name, values });
      }),
  };
}

function answerCalls(): void {
  let accountsModule: AccountsModule;
  const handlers: Calls = {
    async open(options) {
      accountsModule = await openAccounts(options);
    },
    mint: async (accountId) => (await accountsModule.accounts.mintKey({ accountId, name: 'from elsewhere' })).key,
    identify: async (key) => (await accountsModule.accounts.identify(key))?.key.id ?? null,
    async holds(accountId, count, wanted, least) {
      const requests = Array.from({ length: count }, () => accountsModule.usage.hold(accountId, { wanted, least }));
      return (await Promise.all(requests)).map((hold) => hold?.tokens ?? 0);
    },
    async charge(charges) {
      for (const charge of charges) accountsModule.usage.charge(charge);
      await accountsModule.usage.flush();
    },
    close: () => accountsModule.close(),
  };
  process.on('message', async ({ number, name, values }: Message) => {
    try {
      const call = handlers[name] as (...values: never[]) => Promise<unknown>;
      process.send!({ number, value: await call(...values) });
    } catch (error) {
      process.send!({ number, failure: String(error) });
    }
  });
}

if (process.argv[1] === FILE && process.send) answerCalls();
