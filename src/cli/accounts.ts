/** `lectern accounts`: makes, shows and changes accounts, their plans and balances. */
import { type Command, Option } from 'commander';
import type { Account, ShownAccount } from '#accounts/index.ts';
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

/** Commander keeps no null. */
const parseBalance = flagParser((text: string) => {
  if (text === 'none') return text;
  const value = parseInteger(text);
  if (value < 0) throw new Error('It must not be below zero.');
  return value;
});

export function accountsCommand(context: CommandContext): Command {
  const accounts = newCommand('accounts', 'Make, list and change accounts.');
  const planOption = () => new Option('--plan <plan>', 'The plan.').choices(PLAN_CHOICES);
  const toBalance = (given: number | 'none' | undefined) => (given === 'none' ? null : given);
  const balanceOption = () =>
    new Option('--balance <tokens>', 'Tokens that may be used; `none` counts none.').argParser(parseBalance);
  const show = async (account: Account, { json }: DataFlags) => {
    const { showAccount } = await import('#accounts/index.ts');
    const shown = showAccount(account);
    if (json) context.print(JSON.stringify(shown, null, 2));
    else for (const line of tableLines(HEADINGS, [cells(shown)], '')) context.print(line);
  };

  withDataFlags(accounts.command('create'))
    .description('Make an account.')
    .argument('<name>', 'what to call it')
    .addOption(planOption().default('free'))
    .addOption(balanceOption())
    .action((name: string, flags: AccountFlags) =>
      withAccounts(context, flags, async (room) => {
        await show(
          await room.accounts.createAccount({ name, plan: flags.plan!, balance: toBalance(flags.balance) }),
          flags,
        );
      }),
    );
  withDataFlags(accounts.command('list'))
    .description('List accounts.')
    .action((flags: DataFlags) =>
      withAccounts(context, flags, async (room) => {
        const { showAccount } = await import('#accounts/index.ts');
        const shown = (await room.accounts.accounts()).map(showAccount);
        if (flags.json) context.print(JSON.stringify(shown, null, 2));
        else for (const line of tableLines(HEADINGS, shown.map(cells), 'There is no account.')) context.print(line);
      }),
    );
  withDataFlags(accounts.command('change'))
    .description('Change name, plan or balance of an account.')
    .argument('<id>', 'the id of the account')
    .option('--name <name>', 'What to call it.')
    .addOption(planOption())
    .addOption(balanceOption().conflicts('addBalance'))
    .addOption(
      new Option('--add-balance <tokens>', 'Tokens to add to the balance; below zero they are taken.').argParser(
        parseInteger,
      ),
    )
    .action((id: string, { name, plan, balance, addBalance, ...flags }: AccountFlags) =>
      withAccounts(context, flags, async (room) => {
        const changed = await room.accounts.changeAccount(id, { name, plan, balance: toBalance(balance), addBalance });
        await show(requireFound(changed, 'account', id), flags);
      }),
    );
  return accounts;
}

const HEADINGS = ['ID', 'NAME', 'PLAN', 'BALANCE', 'MADE'];

const cells = ({ id, name, plan, balance, createdAt }: ShownAccount): string[] => [
  id,
  name,
  plan,
  balance === null ? '-' : balance.toLocaleString('en-US'),
  shortTime(createdAt),
];
