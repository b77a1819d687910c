/** `lectern gateway`: a gateway alone, in front of executors that run elsewhere. */
import { Command } from 'commander';
import { FLOW_FLAGS } from '#generated/cli-flags.ts';
import { usageError } from './exit-codes.ts';
import { addFlowFlags, addOldFlags, type GivenFlags, optionsFromFlags } from './flow-flags.ts';
import { type FlowContext, serveUntilStopped } from './flow-server.ts';

interface GatewayFlags extends GivenFlags {
  readonly uses?: string;
  readonly env?: string[];
  readonly graphDescription?: string;
  readonly graphConditions?: string;
  readonly deploymentsAddresses?: string;
  readonly deploymentsNoReduce?: string;
  readonly deploymentsMetadata?: string;
}

/** These options have no effect, because this gateway has no flow file and no executors of its own. */
const WITHOUT_EFFECT = ['workspace', 'inspect', 'reload'];

export function gatewayCommand(context: FlowContext): Command {
  const command = new Command('gateway')
    .description('Serve a gateway for executors that run elsewhere, until the process is stopped.')
    .option('--graph-description <json>', 'Graph: {"start-gateway": ["a"], "a": ["end-gateway"]}.')
    .option('--deployments-addresses <json>', 'Addresses of the executors: {"a": ["grpc://host:port"]}.')
    .option('--graph-conditions <json>', 'Conditions of executors: {"a": {"tags__x": {"$eq": 1}}}.')
    .option('--deployments-no-reduce <json>', 'Executors that get the parts of a join: ["a"].')
    .option('--deployments-metadata <json>', 'gRPC metadata of calls: {"a": {"key": "value"}}.')
    .option('--env <pairs...>', 'Variables of the graph, each KEY: VALUE.')
    .option('--uses <class>', 'Accepted with a warning: gateways of your own are not supported.');
  addFlowFlags(command, FLOW_FLAGS);
  return addOldFlags(command)
    .exitOverride()
    .action(async (flags: GatewayFlags) => {
      const definition = await readGateway(context, flags);
      await serveUntilStopped(context, () => definition);
    });
}

async function readGateway({ environment, note }: FlowContext, flags: GatewayFlags) {
  const [{ defineGateway }, { readPairs }] = await Promise.all([import('#flow/index.ts'), import('./pairs.ts')]);
  const pairs = Object.entries(readPairs(flags.env) ?? {}).map(([key, value]) => [key, String(value)]);
  const options = await optionsFromFlags(FLOW_FLAGS, flags);
  for (const name of WITHOUT_EFFECT.filter((one) => options[one] !== undefined)) {
    note(`lectern: warning: --${name} has no effect on a gateway alone`);
    delete options[name];
  }
  return defineGateway(
    {
      graph: parseJson('graph-description', flags.graphDescription),
      conditions: parseJson('graph-conditions', flags.graphConditions),
      addresses: parseJson('deployments-addresses', flags.deploymentsAddresses),
      noReduce: parseJson('deployments-no-reduce', flags.deploymentsNoReduce),
      metadata: parseJson('deployments-metadata', flags.deploymentsMetadata),
    },
    { ...options, ...(flags.uses !== undefined && { uses: flags.uses }) },
    { env: { ...environment, ...Object.fromEntries(pairs) } },
  );
}

function parseJson(flag: string, text: string | undefined): unknown {
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw usageError(`--${flag} is not JSON: ${(error as Error).message}`);
  }
}
