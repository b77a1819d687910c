/** Kills processes that charge under load, and compares what their answers said with the database. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openStore } from '#storage/database/store.ts';
import { type ChargingProcess, startChargingProcess } from '../../test/support/charging-process.ts';
import { postgresUrl, type Service, startPostgres } from '../../test/support/services.ts';
import { ACCOUNT_TABLES, openAccounts } from './open.ts';
import type { Tables } from './schema.ts';

const none = !(await postgresUrl());
const LONG_MS = 900_000;
const KILLS = 20;
/** Concurrent requests. */
const CALLERS = 8;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-kills-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

/** What was asked for and what was answered. Each request asks for another number of tokens, by which it is known. */
class Load {
  readonly answered: number[] = [];
  #sent = 0;
  #failure: Error | undefined;

  get sent(): number {
    return this.#sent;
  }

  /** Sends requests until the process is killed. `until` and `check` throw the error of a request that failed. */
  async run(process: ChargingProcess, key: string): Promise<void> {
    const call = async () => {
      for (;;) {
        const tokens = await process.charge(key, ++this.#sent);
        if (tokens === undefined) return;
        this.answered.push(tokens);
      }
    };
    const failed = (error: Error) => {
      this.#failure ??= error;
    };
    await Promise.all(Array.from({ length: CALLERS }, () => call().catch(failed)));
  }

  async until(count: number): Promise<void> {
    while (this.answered.length < count) {
      this.check();
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  }

  check(): void {
    if (this.#failure) throw this.#failure;
  }
}

async function createKey(databaseUrl: string | undefined, balance: number | null) {
  const { accounts, close } = await openAccounts({ dataDir, databaseUrl });
  const { id } = await accounts.createAccount({ name: 'caller', plan: 'premium', balance });
  const { key } = await accounts.mintKey({ accountId: id, name: 'caller' });
  await close();
  return { id, key };
}

/** Every answered request was charged once, and no request twice. */
async function expectLedger(load: Load, databaseUrl: string | undefined): Promise<void> {
  load.check();
  // A process that starts loads what the killed ones left.
  const last = await openAccounts({ dataDir, databaseUrl });
  await last.usage.flush();
  const [sum] = await last.usage.sums({ by: [] });
  await last.close();
  const store = await openStore<Tables>({ url: databaseUrl, file: ACCOUNT_TABLES.fileIn(dataDir) }, ACCOUNT_TABLES);
  const rows = await store.db.selectFrom('usage_details').select(['tokens', 'status']).execute();
  await store.close();
  const charged = rows.map(({ tokens }) => tokens);
  expect(new Set(charged).size).toBe(charged.length);
  const known = new Set(charged);
  expect(load.answered.filter((tokens) => !known.has(tokens))).toEqual([]);
  // A process may be killed between the charge and the answer, at most once for each caller.
  const answered = new Set(load.answered);
  expect(charged.filter((tokens) => !answered.has(tokens)).length).toBeLessThanOrEqual(KILLS * CALLERS);
  expect(charged.every((tokens) => tokens >= 1 && tokens <= load.sent)).toBe(true);
  expect(sum).toMatchObject({ requests: charged.length, tokens: charged.reduce((total, tokens) => total + tokens, 0) });
  expect((await readdir(path.join(dataDir, 'accounts'))).filter((name) => name.includes('usage'))).toEqual([]);
}

describe(`${KILLS} kills under load lose and repeat no charge`, { timeout: LONG_MS }, () => {
  it('in SQLite', async () => {
    const balance = 1_000_000_000;
    const { id, key } = await createKey(undefined, balance);
    const load = new Load();
    for (let kill = 0; kill < KILLS; kill++) {
      const process = await startChargingProcess({ dataDir });
      const running = load.run(process, key);
      try {
        await load.until(load.answered.length + 20 + kill * 7);
      } finally {
        await process.kill();
      }
      await running;
    }
    await expectLedger(load, undefined);
    const { accounts, usage, close } = await openAccounts({ dataDir });
    const [sum] = await usage.sums({ by: [] });
    expect((await accounts.account(id))!.balance).toBe(balance - sum!.tokens);
    await close();
  });

  it.skipIf(none)('in PostgreSQL, which is killed too', async () => {
    const postgres = (await startPostgres()) as Service;
    try {
      const { url: databaseUrl } = postgres;
      const { key } = await createKey(databaseUrl, null);
      const load = new Load();
      for (let kill = 0; kill < KILLS; kill++) {
        const process = await startChargingProcess({ dataDir, databaseUrl, keyGraceMs: 600_000 });
        const running = load.run(process, key);
        const isAway = kill % 5 === 4;
        try {
          await load.until(load.answered.length + 20 + kill * 7);
          if (isAway) {
            await postgres.kill();
            await load.until(load.answered.length + 500);
          }
        } finally {
          await process.kill();
        }
        await running;
        if (isAway) await postgres.start();
      }
      await expectLedger(load, databaseUrl);
    } finally {
      await postgres.close();
    }
  });
});
