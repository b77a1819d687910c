/** `lectern versions`: the report that the gateway of a flow serves at `/status`. */
import type { CliContext } from './context.ts';
import { FlagCommand } from './flags.ts';

export const versionsCommand = ({ version, environment, print }: CliContext): FlagCommand =>
  new FlagCommand('versions').description('Print the version report of a flow gateway as JSON.').action(async () => {
    const { createStatusReport } = await import('#flow/index.ts');
    print(JSON.stringify(createStatusReport({ version, environment }), undefined, 2));
  });
