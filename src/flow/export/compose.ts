/**
 * Writes a Docker Compose file: one service for the gateway and one for each executor, with their configuration inline.
 */
import { stringify } from 'yaml';
import type { FlowDefinition } from '../definition/definition.ts';
import {
  CONFIG_DIR,
  EXECUTOR_PORT,
  type ExecutorPart,
  type ExportOptions,
  type GatewayPart,
  omitEmpty,
  splitFlow,
  TLS_DIR,
  TOKEN_VARIABLE,
  WORKSPACE_DIR,
} from './parts.ts';

/** Compose expands variables everywhere, so a literal dollar is doubled. */
const escapeDollars = (text: string): string => text.replaceAll('$', '$$$$');

const COMMAND = ['node', 'dist/main.js'];
const healthcheck = (what: string, address: string) => ({
  test: ['CMD', ...COMMAND, 'ping', what, address],
  interval: '10s',
  timeout: '10s',
  start_period: '60s',
});

const configMount = (source: string, file: string) => ({ source, target: `${CONFIG_DIR}/${file}` });

function executorService({ definition, host, args }: ExecutorPart, image: string) {
  const { replicas, env, workspace } = definition;
  return omitEmpty({
    image,
    command: [...COMMAND, ...args].map(escapeDollars),
    environment: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, escapeDollars(value)])),
    configs: [configMount(host, 'executor.yml')],
    volumes: workspace ? [`${host}:${WORKSPACE_DIR}`] : undefined,
    deploy: replicas > 1 ? { replicas } : undefined,
    healthcheck: healthcheck('executor', `127.0.0.1:${EXECUTOR_PORT}`),
    restart: 'unless-stopped',
    security_opt: ['no-new-privileges:true'],
    cap_drop: ['ALL'],
  });
}

const SCHEMES = { GRPC: 'grpc', HTTP: 'http', WEBSOCKET: 'ws' } as const;

function gatewayService(
  { host, ports, hasToken, hasTls }: GatewayPart,
  executors: readonly ExecutorPart[],
  image: string,
) {
  const [{ protocol, port }] = ports as [GatewayPart['ports'][number]];
  return omitEmpty({
    image,
    command: [...COMMAND, 'flow', '--uses', `${CONFIG_DIR}/flow.yml`],
    // The token comes from the environment and is written to no file.
    environment: hasToken ? { [TOKEN_VARIABLE]: `\${${TOKEN_VARIABLE}:?}` } : undefined,
    configs: [configMount(host, 'flow.yml')],
    volumes: hasTls ? [`./tls:${TLS_DIR}:ro`] : undefined,
    ports: ports.map((one) => `${one.port}:${one.port}`),
    depends_on: Object.fromEntries(executors.map((one) => [one.host, { condition: 'service_healthy' }])),
    // The certificate does not match 127.0.0.1, so there is no health check with TLS.
    healthcheck: hasTls ? undefined : healthcheck('gateway', `${SCHEMES[protocol]}://127.0.0.1:${port}`),
    restart: 'unless-stopped',
    security_opt: ['no-new-privileges:true'],
    cap_drop: ['ALL'],
  });
}

/** Throws like `splitFlow`. */
export function compose(definition: FlowDefinition, options: ExportOptions): string {
  const { gateway, executors } = splitFlow(definition, options);
  const withWorkspace = executors.filter(({ definition: { workspace } }) => workspace);
  return stringify(
    omitEmpty({
      services: {
        [gateway.host]: gatewayService(gateway, executors, options.image),
        ...Object.fromEntries(executors.map((one) => [one.host, executorService(one, options.image)])),
      },
      configs: Object.fromEntries(
        [gateway, ...executors].map(({ host, yaml }) => [host, { content: escapeDollars(yaml) }]),
      ),
      volumes: Object.fromEntries(withWorkspace.map(({ host }) => [host, {}])),
    }),
    { aliasDuplicateObjects: false },
  );
}
