/** Flags of flows and gateways as options of flow files. */
import { Command } from 'commander';
import { expect, it } from 'vitest';
import { FLOW_FLAGS } from '#generated/cli-flags.ts';
import { quietContext } from '../../test/support/quiet-context.ts';
import { flowCommand } from './flow.ts';
import { addFlowFlags, addOldFlags, optionsFromFlags } from './flow-flags.ts';
import { gatewayCommand } from './gateway.ts';

async function optionsOf(...args: string[]) {
  const command = addOldFlags(addFlowFlags(new Command(), FLOW_FLAGS)).exitOverride();
  command.parse(args, { from: 'user' });
  return optionsFromFlags(FLOW_FLAGS, command.opts());
}

it.each<[string[], object]>([
  [[], {}],
  [['--protocol', 'grpc', 'http', '--port', '1', '2'], { protocol: ['grpc', 'http'], port: ['1', '2'] }],
  [['--port-expose', '3', '--rest-api'], { port: ['3'], protocol: ['http'] }],
  [['--restful', '--protocol', 'websocket'], { protocol: ['websocket'] }],
  [
    ['--no-debug-endpoints', '--no-crud-endpoints', '--cors'],
    { no_debug_endpoints: true, no_crud_endpoints: true, cors: true },
  ],
  [['--title', 'T', '--prefetch', '5', '--timeout-send', '100'], { title: 'T', prefetch: '5', timeout_send: '100' }],
  [
    ['--uvicorn-kwargs', 'backlog: 5', '--grpc-server-options', 'grpc.keepalive_time_ms: 9', 'grpc.x: a'],
    { uvicorn_kwargs: { backlog: 5 }, grpc_server_options: { 'grpc.keepalive_time_ms': 9, 'grpc.x': 'a' } },
  ],
  [['--tracing', '--traces-exporter-port', '4'], { tracing: true, traces_exporter_port: '4' }],
])('%j', async (args, expected) => {
  expect(await optionsOf(...args)).toEqual(expected);
});

/** The flags of the original framework's commands. */
const ORIGINAL =
  '--uses --protocol --port --port-expose --host --title --description --cors --no-debug-endpoints --no-crud-endpoints --expose-endpoints --prefetch --timeout-send --retries --compression --ssl-certfile --ssl-keyfile --uvicorn-kwargs --grpc-server-options --monitoring --port-monitoring --env --name --workspace --inspect --reload --restful --rest-api'.split(
    ' ',
  );
const GRAPH =
  '--graph-description --graph-conditions --deployments-addresses --deployments-no-reduce --deployments-metadata'.split(
    ' ',
  );

it('has the flags of the original', () => {
  const flagsOf = (command: Command) => command.options.map(({ long }) => long);
  expect(flagsOf(flowCommand(quietContext))).toEqual(expect.arrayContaining(ORIGINAL));
  expect(flagsOf(gatewayCommand(quietContext))).toEqual(expect.arrayContaining([...ORIGINAL, ...GRAPH]));
});

it('refuses a graph that is not JSON', async () => {
  const command = gatewayCommand(quietContext);
  await expect(command.parseAsync(['--graph-description', '{'], { from: 'user' })).rejects.toThrow(
    '--graph-description is not JSON',
  );
});
