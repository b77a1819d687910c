/** `lectern keys`: makes, shows, renames, ends and revokes API keys. */
import { Argument, type Command, Option } from 'commander';
import type { KeyJson, KeyRecord } from '#accounts/index.ts';
import {
  type AccountsFlags,
  accountsCommandOf,
  type CommandContext,
  found,
  withAccounts,
  withAccountsFlags,
} from './accounts-module.ts';
import { reading } from './numbers.ts';
import { tableLines } from './table.ts';
import { readTime, shortTime, TIME_HELP } from './times.ts';

interface MintFlags extends AccountsFlags {
  readonly account?: string;
  readonly expires?: number | 'never';
  readonly stdin?: boolean;
}

/** Commander keeps no null. */
const expiry = reading((text: string) => (text === 'never' ? text : readTime(text, Date.now(), 'from now')));
const toExpiry = (given: number | 'never' | undefined) => (given === 'never' ? null : given);

export function keysCommand(context: CommandContext): Command {
  const keys = accountsCommandOf('keys', 'Make, list and revoke API keys.');
  mint(keys, context);
  withAccountsFlags(keys.command('list'))
    .description('List keys; their texts are kept nowhere.')
    .option('--account <id>', 'Only those of this account.')
    .action((flags: AccountsFlags & { account?: string }) =>
      withAccounts(context, flags, async ({ accounts }) => {
        const { showKey } = await import('#accounts/index.ts');
        const { account } = flags;
        if (account !== undefined) found(await accounts.account(account), 'account', account);
        const shown = (await accounts.keys(account === undefined ? {} : { accountId: account })).map(showKey);
        if (flags.json) context.print(JSON.stringify(shown, null, 2));
        else for (const line of tableLines(HEADINGS, shown.map(cells), 'There is no key.')) context.print(line);
      }),
    );
  change(keys, 'rename', 'Give a key another name.', new Argument('<name>'), context, (accounts, id, name: string) =>
    accounts.changeKey(id, { name }),
  );
  change(
    keys,
    'expire',
    'Set when a key ends.',
    new Argument('<when>', `\`never\`, ${TIME_HELP}`).argParser(expiry),
    context,
    (accounts, id, when: number | 'never') => accounts.changeKey(id, { expiresAt: toExpiry(when) }),
  );
  change(keys, 'revoke', 'Revoke a key for good.', undefined, context, (accounts, id) => accounts.revokeKey(id));
  return keys;
}

function mint(keys: Command, context: CommandContext): void {
  withAccountsFlags(keys.command('mint'))
    .description('Make a key. It is printed this once, alone on its line.')
    .argument('[name]', 'what to call it', 'key')
    .option('--account <id>', 'The account it belongs to; `default` without one.')
    .addOption(new Option('--expires <when>', `When it ends: \`never\`, ${TIME_HELP}.`).argParser(expiry))
    .option('--stdin', 'Take a key of your own from the input: 32 to 512 visible ASCII characters.')
    .action((name: string, flags: MintFlags) =>
      withAccounts(context, flags, async ({ accounts }) => {
        const { showKey } = await import('#accounts/index.ts');
        const own = flags.stdin ? (await context.readInput()).trim() : undefined;
        const accountId = flags.account ?? (await accounts.defaultAccount()).id;
        found(await accounts.account(accountId), 'account', accountId);
        const { key, record } = await accounts.mintKey({
          accountId,
          name,
          expiresAt: toExpiry(flags.expires),
          key: own,
        });
        if (flags.json) {
          context.print(JSON.stringify({ ...showKey(record), ...(own === undefined && { key }) }, null, 2));
          return;
        }
        context.note(`key ${record.id} (${record.name}) of account ${accountId}`);
        if (own === undefined) context.print(key);
      }),
    );
}

/** A command that changes one key and shows what became of it. */
function change<Value>(
  keys: Command,
  name: string,
  description: string,
  argument: Argument | undefined,
  context: CommandContext,
  work: (accounts: Accounts, id: string, value: Value) => Promise<KeyRecord | undefined>,
): void {
  const command = withAccountsFlags(keys.command(name)).description(description).argument('<id>', 'the id of the key');
  if (argument) command.addArgument(argument);
  command.action((id: string, ...rest: unknown[]) => {
    const flags = command.opts<AccountsFlags>();
    return withAccounts(context, flags, async ({ accounts }) => {
      const { showKey } = await import('#accounts/index.ts');
      const shown = showKey(found(await work(accounts, id, rest[0] as Value), 'key', id));
      if (flags.json) context.print(JSON.stringify(shown, null, 2));
      else for (const line of tableLines(HEADINGS, [cells(shown)], '')) context.print(line);
    });
  });
}

type Accounts = Parameters<Parameters<typeof withAccounts>[2]>[0]['accounts'];

const HEADINGS = ['ID', 'NAME', 'KEY', 'ACCOUNT', 'MADE', 'LAST USED', 'ENDS', 'STATE'];

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
  return expiresAt !== null && Date.parse(expiresAt) <= Date.now() ? 'ended' : 'valid';
}
