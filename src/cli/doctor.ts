/** `lectern doctor`: examines the machine, the way out, limits and the work itself, and says what to do. */

import { type AccountsFlags, withAccountsFlags } from './accounts-module.ts';
import type { CliContext } from './context.ts';
import { CommandError } from './exit-codes.ts';
import { FlagCommand } from './flags.ts';

export function doctorCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('doctor').description('Check the machine, the way out, limits and the work itself.');
  return withAccountsFlags(command).action((flags: AccountsFlags) => examine(flags, context));
}

async function examine({ dataDir, config: file, json }: AccountsFlags, context: CliContext): Promise<void> {
  const { readConfig, unknownVariables } = await import('#config.ts');
  const { doctor, linesOf, reportOf, summaryOf } = await import('#app/doctor/doctor.ts');
  const { ownTemporary } = await import('#app/own-temporary.ts');
  await ownTemporary();
  const { environment, version, print, note, rewrite, signal } = context;
  const config = readConfig({ environment, flags: { dataDir, config: file } });
  for (const name of unknownVariables(environment))
    note(`lectern: warning: ${name} is not a known setting and has no effect`);
  const findings = [];
  for await (const finding of doctor(config, version, signal)) {
    rewrite?.('');
    if (!json) for (const line of linesOf(finding, findings.at(-1)?.group)) print(line);
    findings.push(finding);
    rewrite?.('examining …');
  }
  rewrite?.('');
  const report = reportOf(version, findings);
  if (json) print(JSON.stringify(report, null, 2));
  else {
    print('');
    print(summaryOf(report));
  }
  if (!report.ok) throw new CommandError('failed', 'something is broken; the report says what to do');
}
