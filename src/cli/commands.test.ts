/** The commands for keys, accounts and usage, with a real database. One test runs them as users do. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { CommanderError } from 'commander';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newId, openAccounts } from '#accounts/index.ts';
import { startProcess } from '../../test/support/process.ts';
import { programFile } from '../../test/support/program.ts';
import { accountsCommand } from './accounts.ts';
import { keysCommand } from './keys.ts';
import { usageCommand } from './usage.ts';

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-cli-'));
});
afterEach(() => rm(dataDir, { recursive: true }));

const COMMANDS = { keys: keysCommand, accounts: accountsCommand, usage: usageCommand };

/** Runs a command in this process. */
async function run(line: string | readonly string[], input = '') {
  const [name = '', ...args] = typeof line === 'string' ? line.split(' ') : line;
  const printed: string[] = [];
  const noted: string[] = [];
  const command = COMMANDS[name as keyof typeof COMMANDS]({
    environment: { LECTERN_DATA_DIR: dataDir },
    print: (printedLine) => printed.push(...printedLine.split('\n')),
    note: (notedLine) => noted.push(notedLine),
    readInput: async () => input,
  });
  for (const one of [command, ...command.commands]) one.configureOutput({ writeErr: () => {}, writeOut: () => {} });
  await command.parseAsync(args, { from: 'user' });
  return { printed, noted };
}

// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
const json = async (...args: Parameters<typeof run>): Promise<any> =>
  JSON.parse((await run(...args)).printed.join('\n'));

async function withAccountsStore<T>(
  work: (module: Awaited<ReturnType<typeof openAccounts>>) => Promise<T>,
): Promise<T> {
  const module = await openAccounts({ dataDir });
  try {
    return await work(module);
  } finally {
    await module.close();
  }
}

describe('keys', () => {
  it('are printed once, on a line of their own', async () => {
    const { printed, noted } = await run('keys mint laptop');
    expect(printed).toEqual([expect.stringMatching(/^lectern_[\w-]{43}$/)]);
    const found = await withAccountsStore(({ accounts }) => accounts.identify(printed[0]!));
    expect(found).toMatchObject({ key: { name: 'laptop', expiresAt: null }, account: { id: 'default' } });
    expect(noted).toEqual([`key ${found!.key.id} (laptop) of account default`]);
    for (const list of ['keys list', 'keys list --json']) {
      expect((await run(list)).printed.join('\n')).not.toContain(printed[0]!.slice(12));
    }
  });

  it('are listed in a table', async () => {
    expect((await run('keys list')).printed).toEqual(['No keys.']);
    const one = await json('keys mint laptop --json --expires 2020-01-01');
    const two = await json(['keys', 'mint', 'a long name', '--json']);
    await run(`keys revoke ${two.id}`);
    const { printed } = await run('keys list');
    expect(printed.map((line) => line.split(/ {2,}/))).toEqual([
      ['ID', 'NAME', 'KEY', 'ACCOUNT', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'],
      [one.id, 'laptop', one.shown, 'default', expect.any(String), '-', '2020-01-01 00:00', 'expired'],
      [two.id, 'a long name', two.shown, 'default', expect.any(String), '-', '-', 'revoked'],
    ]);
  });

  it('are renamed, expired and revoked', async () => {
    const { id, key } = await json('keys mint --json --expires 30d');
    expect(await json('keys mint --json --expires never')).toMatchObject({ expiresAt: null });
    expect(await json(['keys', 'rename', id, 'b c', '--json'])).toMatchObject({ id, name: 'b c' });
    expect(await json(`keys expire ${id} never --json`)).toMatchObject({ expiresAt: null });
    expect(await json(`keys expire ${id} 2036-05-06T07:08:09+01:00 --json`)).toMatchObject({
      expiresAt: '2036-05-06T06:08:09.000Z',
    });
    const before = Date.now();
    const { expiresAt } = await json(`keys expire ${id} 2w --json`);
    expect(Date.parse(expiresAt) - 14 * 86_400_000).toBeGreaterThanOrEqual(before);
    expect(await withAccountsStore(({ accounts }) => accounts.identify(key))).toBeDefined();
    expect((await json(`keys revoke ${id} --json`)).revokedAt).toEqual(expect.any(String));
    expect(await withAccountsStore(({ accounts }) => accounts.identify(key))).toBeUndefined();
  });

  it('can be supplied by the user and are then not printed', async () => {
    const key = `hosted_${'x'.repeat(30)}`;
    const { printed } = await run('keys mint mine --stdin', `${key}\n`);
    expect(printed).toEqual([]);
    expect(await withAccountsStore(({ accounts }) => accounts.identify(key))).toMatchObject({ key: { name: 'mine' } });
    expect(await json('keys mint mine --stdin --json', `${key}2`)).not.toHaveProperty('key');
    await expect(run('keys mint mine --stdin', 'short')).rejects.toThrow(/32 to 512 visible ASCII/);
  });

  it('report unknown ids and invalid values', async () => {
    await expect(run('keys revoke nothing')).rejects.toThrow('no such key: nothing');
    await expect(run('keys rename nothing x')).rejects.toThrow('no such key: nothing');
    await expect(run('keys expire nothing never')).rejects.toThrow('no such key: nothing');
    await expect(run('keys mint --account nobody')).rejects.toThrow('no such account: nobody');
    await expect(run('keys list --account nobody')).rejects.toThrow('no such account: nobody');
    for (const when of ['soon', '2026-02-30', '2026-13-01', '30', '-3d', '2026-01-01T00:00']) {
      await expect(run(`keys mint --expires ${when}`), when).rejects.toThrow(CommanderError);
    }
    expect((await run('keys list')).printed).toEqual(['No keys.']);
  });
});

describe('accounts', () => {
  it('are created, listed and changed', async () => {
    const { id } = await json('accounts create team --plan paid --balance 1_000 --json');
    await run('accounts create other');
    expect(await json(`accounts change ${id} --add-balance -200 --name crew --json`)).toMatchObject({
      name: 'crew',
      plan: 'paid',
      balance: 800,
    });
    const { printed } = await run('accounts list');
    expect(printed.map((line) => line.split(/ {2,}/).slice(1, 4))).toEqual([
      ['NAME', 'PLAN', 'BALANCE'],
      ['crew', 'paid', '800'],
      ['other', 'free', '-'],
    ]);
    expect(await json(`accounts change ${id} --plan premium --balance none --json`)).toMatchObject({
      plan: 'premium',
      balance: null,
    });
  });

  it('report errors', async () => {
    await expect(run('accounts change nobody --plan free')).rejects.toThrow('no such account: nobody');
    const { id } = await json('accounts create team --json');
    for (const flags of [
      '--plan gold',
      '--balance -1',
      '--balance x',
      '--balance 5 --add-balance 5',
      '--add-balance 1.5',
    ]) {
      await expect(run(`accounts change ${id} ${flags}`), flags).rejects.toThrow(CommanderError);
    }
    await expect(run(`accounts change ${id} --add-balance 5`)).rejects.toThrow(/no balance to add to/);
    await expect(run(['accounts', 'create', 'a\nb'])).rejects.toThrow(/one line/);
  });
});

describe('usage', () => {
  it('is summed up in a table, with names', async () => {
    expect((await run('usage')).printed).toEqual(['No usage.']);
    const { id: accountId } = await json('accounts create team --json');
    const { id: keyId } = await json(`keys mint laptop --account ${accountId} --json`);
    const charge = { accountId, keyId, face: 'reader', endpoint: 'reader', model: '', tokens: 1_500, status: 200 };
    await withAccountsStore(async ({ usage }) => {
      for (const ago of [0, 0, 10]) {
        usage.charge({ ...charge, id: newId(), at: Date.now() - ago * 86_400_000, durationMs: 1 + ago });
      }
    });
    const today = new Date().toISOString().slice(0, 10);
    const { printed } = await run('usage --by account,key,model --from 5d');
    expect(printed.map((line) => line.split(/ {2,}/))).toEqual([
      ['ACCOUNT', 'KEY', 'MODEL', 'REQUESTS', 'FAILED', 'TOKENS', 'MEAN MS'],
      [`${accountId} (team)`, `${keyId} (laptop)`, '-', '2', '0', '3,000', '1'],
    ]);
    expect(await json(`usage --json --account ${accountId} --key ${keyId} --to 0d`)).toMatchObject([
      { requests: 1, tokens: 1_500 },
      { day: today, requests: 2, tokens: 3_000 },
    ]);
    expect(await json('usage --by nothing --json')).toEqual([
      { requests: 3, failed: 0, tokens: 4_500, durationMs: 13 },
    ]);
    expect(await json(`usage --from ${today} --to ${today} --by face,endpoint --json`)).toMatchObject([
      { face: 'reader', endpoint: 'reader', requests: 2 },
    ]);
  });

  it('reports errors', async () => {
    await expect(run('usage --by color')).rejects.toThrow(CommanderError);
    await expect(run('usage --from yesterday')).rejects.toThrow(CommanderError);
    await expect(run('usage --account nobody')).rejects.toThrow('no such account: nobody');
    await expect(run('usage --key nothing')).rejects.toThrow('no such key: nothing');
  });
});

const LONG_MS = 180_000;

it('works as a program: key on stdout, notes on stderr, and an exit code', {
  timeout: LONG_MS,
}, async () => {
  const program = async (args: readonly string[], input = '') => {
    const child = spawn(process.execPath, [await programFile(), ...args], {
      cwd: path.resolve(import.meta.dirname, '../..'),
      env: { ...process.env, LECTERN_DATA_DIR: dataDir },
    });
    child.stdin.end(input);
    const [out, error] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { out, error, code: child.exitCode };
  };
  const made = await program(['keys', 'mint', 'mine', '--expires', '1h']);
  expect(made).toMatchObject({ out: expect.stringMatching(/^lectern_[\w-]{43}\n$/), code: 0 });
  expect(made.error).toMatch(/^key \S+ \(mine\) of account default\n$/m);
  const own = await program(['keys', 'mint', '--stdin', '--json'], `own_${'k'.repeat(40)}\n`);
  expect(JSON.parse(own.out)).toMatchObject({ shown: 'own_…', accountId: 'default' });
  const unknown = await program(['keys', 'revoke', 'nothing']);
  expect(unknown).toMatchObject({
    out: '',
    error: expect.stringContaining('lectern: no such key: nothing'),
    code: 1,
  });
  expect(await program(['usage', '--from', 'x'])).toMatchObject({ out: '', code: 2 });
});

it('works beside a running server, which soon applies the change', async () => {
  const server = await startProcess({ LECTERN_DATA_DIR: dataDir, LECTERN_BROWSER: 'none' });
  try {
    const { id, key } = await json('keys mint --json');
    const statusOf = async () => {
      const answer = await fetch(`${server.urlOf('reader')}/http://127.0.0.1:1/`, {
        headers: { authorization: `Bearer ${key}` },
      });
      await answer.arrayBuffer();
      return answer.status;
    };
    expect(await statusOf()).toBe(451);
    const used = () => json(`usage --json --by key,face --key ${id}`);
    await expect.poll(used, { timeout: 60_000 }).toMatchObject([{ key: id, face: 'reader', requests: 1, failed: 1 }]);
    expect((await json('keys list --json')).find((shown: { id: string }) => shown.id === id).lastUsedAt).not.toBeNull();
    await run(`keys revoke ${id}`);
    await expect.poll(statusOf, { timeout: 60_000 }).toBe(401);
  } finally {
    await server.stop();
  }
}, 120_000);
