/** `lectern doctor`: checks the machine, network access, limits and a test read, and suggests fixes. */

import { type DataFlags, withDataFlags } from './accounts-module.ts';
import type { CliContext } from './context.ts';
import { CommandError } from './exit-codes.ts';
import { FlagCommand } from './flags.ts';

export function doctorCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('doctor').description(
    'Check the machine, network access and limits, and do a test read.',
  );
  return withDataFlags(command).action((flags: DataFlags) => examine(flags, context));
}

async function examine({ dataDir, config: file, json }: DataFlags, context: CliContext): Promise<void> {
  const { readConfig, unknownVariables } = await import('#config.ts');
  const { doctor, linesOf, reportOf, summaryOf } = await import('#app/doctor/doctor.ts');
  const { processTemporaryFolder } = await import('#app/temporary-folder.ts');
  await processTemporaryFolder();
  const { environment, version, print, note, rewrite, signal } = context;
  const config = readConfig({ environment, flags: { dataDir, config: file } });
  for (const warning of unknownVariables(environment)) note(`lectern: warning: ${warning}`);
  const findings = [];
  for await (const finding of doctor(config, version, signal)) {
    rewrite?.('');
    if (!json) for (const line of linesOf(finding, findings.at(-1)?.group)) print(line);
    findings.push(finding);
    rewrite?.('checking …');
  }
  rewrite?.('');
  const report = reportOf(version, findings);
  if (json) print(JSON.stringify(report, null, 2));
  else {
    print('');
    print(summaryOf(report));
  }
  if (!report.ok) throw new CommandError('failed', 'a check failed; see the report for what to do');
}
