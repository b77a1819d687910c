/** The accounts room in a process of its own, for tests of what several processes share: `call` in the parent's messages. */
import { type ChildProcess, fork } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type AccountsModule, type AccountsModuleOptions, type Charge, openAccounts } from '#accounts/index.ts';

interface Calls {
  open(options: AccountsModuleOptions): Promise<void>;
  mint(accountId: string): Promise<string>;
  identify(key: string): Promise<string | null>;
  /** Holds asked for at once: how many tokens each got. */
  holds(accountId: string, count: number, wanted: number, least: number): Promise<number[]>;
  /** Waits until they are written. */
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

export function startAccountsProcess(): AccountsProcess {
  const child = fork(FILE, [], { execArgv: ['--conditions=source', '--import', 'tsx'] });
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
  let room: AccountsModule;
  const calls: Calls = {
    async open(options) {
      room = await openAccounts(options);
    },
    mint: async (accountId) => (await room.accounts.mintKey({ accountId, name: 'from elsewhere' })).key,
    identify: async (key) => (await room.accounts.identify(key))?.key.id ?? null,
    async holds(accountId, count, wanted, least) {
      const asked = Array.from({ length: count }, () => room.usage.hold(accountId, { wanted, least }));
      return (await Promise.all(asked)).map((hold) => hold?.tokens ?? 0);
    },
    async charge(charges) {
      for (const charge of charges) room.usage.charge(charge);
      await room.usage.flush();
    },
    close: () => room.close(),
  };
  process.on('message', async ({ number, name, values }: Message) => {
    try {
      const call = calls[name] as (...values: never[]) => Promise<unknown>;
      process.send!({ number, value: await call(...values) });
    } catch (error) {
      process.send!({ number, failure: String(error) });
    }
    if (name === 'close') process.disconnect();
  });
}

if (process.argv[1] === FILE && process.send) answerCalls();
