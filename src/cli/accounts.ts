/** `lectern accounts`: creates, lists and changes accounts, their plans and balances. */
import { type Command, Option } from 'commander';
import type { Account, AccountJson } from '#accounts/index.ts';
import { PLAN_CHOICES } from '#generated/cli-flags.ts';
import type { PlanName } from '#plans.ts';
import {
  type CommandContext,
  type DataFlags,
  newCommand,
  requireFound,
  withAccounts,
  withDataFlags,
} from './accounts-module.ts';
import { flagParser, parseInteger } from './numbers.ts';
import { tableLines } from './table.ts';
import { shortTime } from './times.ts';

interface AccountFlags extends DataFlags {
  readonly name?: string;
  readonly plan?: PlanName;
  readonly balance?: number | 'none';
  readonly addBalance?: number;
}

/** Returns `none` instead of null, because commander discards null. */
const parseBalance = flagParser((text: string) => {
  if (text === 'none') return text;
  const value = parseInteger(text);
  if (value < 0) throw new Error('It must not be negative.');
  return value;
});

export function accountsCommand(context: CommandContext): Command {
  const accounts = newCommand('accounts', 'Create, list and change accounts.');
  const planOption = () => new Option('--plan <plan>', 'Plan of the account.').choices(PLAN_CHOICES);
  const toBalance = (given: number | 'none' | undefined) => (given === 'none' ? null : given);
  const balanceOption = () =>
    new Option('--balance <tokens>', 'Token balance; `none` for no limit.').argParser(parseBalance);
  const show = async (account: Account, { json }: DataFlags) => {
    const { toAccountJson } = await import('#accounts/index.ts');
    const shown = toAccountJson(account);
    if (json) context.print(JSON.stringify(shown, null, 2));
    else for (const line of tableLines(HEADINGS, [cells(shown)], '')) context.print(line);
  };

  withDataFlags(accounts.command('create'))
    .description('Create an account.')
    .argument('<name>', 'name of the account')
    .addOption(planOption().default('free'))
    .addOption(balanceOption())
    .action((name: string, flags: AccountFlags) =>
      withAccounts(context, flags, async (module) => {
        await show(
          await module.accounts.createAccount({ name, plan: flags.plan!, balance: toBalance(flags.balance) }),
          flags,
        );
      }),
    );
  withDataFlags(accounts.command('list'))
    .description('List accounts.')
    .action((flags: DataFlags) =>
      withAccounts(context, flags, async (module) => {
        const { toAccountJson } = await import('#accounts/index.ts');
        const shown = (await module.accounts.accounts()).map(toAccountJson);
        if (flags.json) context.print(JSON.stringify(shown, null, 2));
        else for (const line of tableLines(HEADINGS, shown.map(cells), 'No accounts.')) context.print(line);
      }),
    );
  withDataFlags(accounts.command('change'))
    .description('Change the name, plan or balance of an account.')
    .argument('<id>', 'id of the account')
    .option('--name <name>', 'New name.')
    .addOption(planOption())
    .addOption(balanceOption().conflicts('addBalance'))
    .addOption(
      new Option('--add-balance <tokens>', 'Tokens to add to the balance; a negative number subtracts.').argParser(
        parseInteger,
      ),
    )
    .action((id: string, { name, plan, balance, addBalance, ...flags }: AccountFlags) =>
      withAccounts(context, flags, async (module) => {
        const changed = await module.accounts.changeAccount(id, {
          name,
          plan,
          balance: toBalance(balance),
          addBalance,
        });
        await show(requireFound(changed, 'account', id), flags);
      }),
    );
  return accounts;
}

const HEADINGS = ['ID', 'NAME', 'PLAN', 'BALANCE', 'CREATED'];

const cells = ({ id, name, plan, balance, createdAt }: AccountJson): string[] => [
  id,
  name,
  plan,
  balance === null ? '-' : balance.toLocaleString('en-US'),
  shortTime(createdAt),
];
