/** `lectern keys`: creates, lists, renames, expires and revokes API keys. */
import { Argument, type Command, Option } from 'commander';
import type { KeyJson, KeyRecord } from '#accounts/index.ts';
import {
  type CommandContext,
  type DataFlags,
  newCommand,
  requireFound,
  withAccounts,
  withDataFlags,
} from './accounts-module.ts';
import { flagParser } from './numbers.ts';
import { tableLines } from './table.ts';
import { readTime, shortTime, TIME_HELP } from './times.ts';

interface MintFlags extends DataFlags {
  readonly account?: string;
  readonly expires?: number | 'never';
  readonly stdin?: boolean;
}

/** Returns `never` instead of null, because commander discards null. */
const parseExpiry = flagParser((text: string) => (text === 'never' ? text : readTime(text, Date.now(), 'from now')));
const toExpiry = (given: number | 'never' | undefined) => (given === 'never' ? null : given);

export function keysCommand(context: CommandContext): Command {
  const keys = newCommand('keys', 'Create, list and revoke API keys.');
  addMintCommand(keys, context);
  withDataFlags(keys.command('list'))
    .description('List keys. The keys themselves are not stored and cannot be shown.')
    .option('--account <id>', 'List only keys of this account.')
    .action((flags: DataFlags & { account?: string }) =>
      withAccounts(context, flags, async ({ accounts }) => {
        const { toKeyJson } = await import('#accounts/index.ts');
        const { account } = flags;
        if (account !== undefined) requireFound(await accounts.account(account), 'account', account);
        const shown = (await accounts.keys(account === undefined ? {} : { accountId: account })).map(toKeyJson);
        if (flags.json) context.print(JSON.stringify(shown, null, 2));
        else for (const line of tableLines(HEADINGS, shown.map(cells), 'No keys.')) context.print(line);
      }),
    );
  addChangeCommand(keys, 'rename', 'Rename a key.', new Argument('<name>'), context, (accounts, id, name: string) =>
    accounts.changeKey(id, { name }),
  );
  addChangeCommand(
    keys,
    'expire',
    'Set when a key expires.',
    new Argument('<when>', `\`never\`, ${TIME_HELP}`).argParser(parseExpiry),
    context,
    (accounts, id, when: number | 'never') => accounts.changeKey(id, { expiresAt: toExpiry(when) }),
  );
  addChangeCommand(keys, 'revoke', 'Revoke a key permanently.', undefined, context, (accounts, id) =>
    accounts.revokeKey(id),
  );
  return keys;
}

function addMintCommand(keys: Command, context: CommandContext): void {
  withDataFlags(keys.command('mint'))
    .description('Create a key and print it once, on a separate line.')
    .argument('[name]', 'name of the key', 'key')
    .option('--account <id>', 'Account that the key belongs to; the default account if omitted.')
    .addOption(new Option('--expires <when>', `Expiry: \`never\`, ${TIME_HELP}.`).argParser(parseExpiry))
    .option('--stdin', 'Read a key of your own from standard input: 32 to 512 visible ASCII characters.')
    .action((name: string, flags: MintFlags) =>
      withAccounts(context, flags, async ({ accounts }) => {
        const { toKeyJson } = await import('#accounts/index.ts');
        const own = flags.stdin ? (await context.readInput()).trim() : undefined;
        const accountId = flags.account ?? (await accounts.defaultAccount()).id;
        requireFound(await accounts.account(accountId), 'account', accountId);
        const { key, record } = await accounts.mintKey({
          accountId,
          name,
          expiresAt: toExpiry(flags.expires),
          key: own,
        });
        if (flags.json) {
          context.print(JSON.stringify({ ...toKeyJson(record), ...(own === undefined && { key }) }, null, 2));
          return;
        }
        context.note(`key ${record.id} (${record.name}) of account ${accountId}`);
        if (own === undefined) context.print(key);
      }),
    );
}

/** Adds a command that changes one key and prints the changed record. */
function addChangeCommand<Value>(
  keys: Command,
  name: string,
  description: string,
  argument: Argument | undefined,
  context: CommandContext,
  work: (accounts: Accounts, id: string, value: Value) => Promise<KeyRecord | undefined>,
): void {
  const command = withDataFlags(keys.command(name)).description(description).argument('<id>', 'id of the key');
  if (argument) command.addArgument(argument);
  command.action((id: string, ...rest: unknown[]) => {
    const flags = command.opts<DataFlags>();
    return withAccounts(context, flags, async ({ accounts }) => {
      const { toKeyJson } = await import('#accounts/index.ts');
      const shown = toKeyJson(requireFound(await work(accounts, id, rest[0] as Value), 'key', id));
      if (flags.json) context.print(JSON.stringify(shown, null, 2));
      else for (const line of tableLines(HEADINGS, [cells(shown)], '')) context.print(line);
    });
  });
}

type Accounts = Parameters<Parameters<typeof withAccounts>[2]>[0]['accounts'];

const HEADINGS = ['ID', 'NAME', 'KEY', 'ACCOUNT', 'CREATED', 'LAST USED', 'EXPIRES', 'STATE'];

const cells = (key: KeyJson): string[] => [
  key.id,
  key.name,
  key.shown,
  key.accountId,
  shortTime(key.createdAt),
  shortTime(key.lastUsedAt),
  shortTime(key.expiresAt),
  stateOf(key),
];

function stateOf({ revokedAt, expiresAt }: KeyJson): string {
  if (revokedAt !== null) return 'revoked';
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'expired' : 'valid';
}
