/** `lectern flow versions`: the report that a flow's gateway serves at `/status`. */
import { Command } from 'commander';
import type { FlowContext } from './flow.ts';

export const flowVersionsCommand = ({ version, environment, print }: FlowContext): Command =>
  new Command('versions')
    .description('Print versions and environment as JSON, as GET /status of a gateway does.')
    .exitOverride()
    .action(async () => {
      const { createStatusReport } = await import('#flow/index.ts');
      print(JSON.stringify(createStatusReport({ version, environment }), undefined, 2));
    });
