/** `lectern usage`: shows usage totals by day, key, model and more. */
import { type Command, Option } from 'commander';
import type { AccountsModule, UsageGroup, UsageSum } from '#accounts/index.ts';
import { USAGE_CHOICES } from '#generated/cli-flags.ts';
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
import { dayOf, readTime, TIME_HELP } from './times.ts';

interface UsageFlags extends DataFlags {
  readonly by: readonly UsageGroup[];
  readonly from?: string;
  readonly to?: string;
  readonly account?: string;
  readonly key?: string;
}

const parseGroups = flagParser((text: string) => {
  const words = text === 'nothing' ? [] : text.split(',').map((word) => word.trim());
  const wrong = words.find((word) => !USAGE_CHOICES.includes(word as UsageGroup));
  if (wrong !== undefined) throw new Error(`${wrong} is not one of ${USAGE_CHOICES.join(', ')}.`);
  return [...new Set(words)] as UsageGroup[];
});
const parseDay = flagParser((text: string) => dayOf(readTime(text, Date.now(), 'ago')));

export function usageCommand(context: CommandContext): Command {
  return withDataFlags(newCommand('usage', 'Show usage totals.'))
    .addOption(
      new Option('--by <groups>', `Comma-separated groups: ${USAGE_CHOICES.join(', ')}; or \`nothing\` for one total.`)
        .argParser(parseGroups)
        .default(['day'], 'day'),
    )
    .addOption(new Option('--from <when>', `First day: ${TIME_HELP} ago.`).argParser(parseDay))
    .addOption(new Option('--to <when>', `Last day: ${TIME_HELP} ago.`).argParser(parseDay))
    .option('--account <id>', 'Count only usage of this account.')
    .option('--key <id>', 'Count only usage of this key.')
    .action((flags: UsageFlags) =>
      withAccounts(context, flags, async (module) => {
        const { by, from, to, account, key } = flags;
        if (account !== undefined) requireFound(await module.accounts.account(account), 'account', account);
        if (key !== undefined) requireFound(await module.accounts.key(key), 'key', key);
        const sums = await module.usage.sums({ by, from, to, accountId: account, keyId: key });
        if (flags.json) context.print(JSON.stringify(sums, null, 2));
        else for (const line of await usageLines(module, by, sums)) context.print(line);
      }),
    );
}

async function usageLines(
  module: AccountsModule,
  by: readonly UsageGroup[],
  sums: readonly UsageSum[],
): Promise<string[]> {
  const names = await namesOf(module, by);
  const headings = [...by.map((group) => group.toUpperCase()), 'REQUESTS', 'FAILED', 'TOKENS', 'MEAN MS'];
  const rows = sums.map((sum) => [
    ...by.map((group) => withName(group, sum[group] ?? '', names)),
    sum.requests,
    sum.failed,
    sum.tokens,
    sum.requests ? Math.round(sum.durationMs / sum.requests) : 0,
  ]);
  return tableLines(headings, rows, 'No usage.');
}

function withName(group: UsageGroup, value: string, names: ReadonlyMap<string, string>): string {
  const name = group === 'account' || group === 'key' ? names.get(value) : undefined;
  return name === undefined ? value || '-' : `${value} (${name})`;
}

/** Names of accounts and keys, if the totals are grouped by them. */
async function namesOf({ accounts }: AccountsModule, by: readonly UsageGroup[]): Promise<Map<string, string>> {
  const rows = [
    ...(by.includes('account') ? await accounts.accounts() : []),
    ...(by.includes('key') ? await accounts.keys() : []),
  ];
  return new Map(rows.map(({ id, name }) => [id, name]));
}
