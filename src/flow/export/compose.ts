/**
 * Writes a Docker Compose file: one service for the gateway and one for each executor, with their configuration inline.
 */
import { stringify } from 'yaml';
import type { FlowDefinition } from '../definition/definition.ts';
import { omitEmpty } from './omit-empty.ts';
import {
  CONFIG_DIR,
  DATA_DIR,
  DATA_VARIABLE,
  EXECUTOR_PORT,
  type ExecutorPart,
  type ExportOptions,
  type GatewayPart,
  splitFlow,
  TLS_DIR,
  TOKEN_VARIABLE,
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

/** Named volumes of a service: its data, and entries of `volumes` without a source. */
const namedVolumes = ({ host, keepsData, volumes }: ExecutorPart): { name: string; target: string }[] => [
  ...(keepsData ? [{ name: host, target: DATA_DIR }] : []),
  ...volumes.flatMap(({ source, target }, at) => (source === undefined ? [{ name: `${host}-${at}`, target }] : [])),
];

const boundVolumes = ({ volumes }: ExecutorPart): string[] =>
  volumes.flatMap(({ source, target, isReadOnly }) =>
    source === undefined ? [] : [`${source}:${target}${isReadOnly ? ':ro' : ''}`],
  );

/** Exposes the metrics port to the other services only. */
const metricsOf = (port: number | undefined) =>
  port === undefined
    ? {}
    : {
        expose: [String(port)],
        labels: {
          'prometheus.io/scrape': 'true',
          'prometheus.io/port': String(port),
          'prometheus.io/path': '/metrics',
        },
      };

function executorService(part: ExecutorPart, image: string) {
  const { definition, host, args, keepsData, metricsPort } = part;
  const { replicas } = definition;
  const env = { ...(keepsData && { [DATA_VARIABLE]: DATA_DIR }), ...definition.env };
  return omitEmpty({
    image,
    command: [...COMMAND, ...args].map(escapeDollars),
    environment: Object.fromEntries(Object.entries(env).map(([key, value]) => [key, escapeDollars(value)])),
    configs: [configMount(host, 'executor.yml')],
    volumes: [...namedVolumes(part).map(({ name, target }) => `${name}:${target}`), ...boundVolumes(part)],
    ...metricsOf(metricsPort),
    deploy: replicas > 1 ? { replicas } : undefined,
    healthcheck: healthcheck('executor', `127.0.0.1:${EXECUTOR_PORT}`),
    restart: 'unless-stopped',
    security_opt: ['no-new-privileges:true'],
    cap_drop: ['ALL'],
  });
}

const SCHEMES = { GRPC: 'grpc', HTTP: 'http', WEBSOCKET: 'ws' } as const;

function gatewayService(
  { host, ports, hasToken, hasTls, metricsPort }: GatewayPart,
  executors: readonly ExecutorPart[],
  image: string,
) {
  const [{ protocol, port }] = ports as [GatewayPart['ports'][number]];
  return omitEmpty({
    image,
    command: [...COMMAND, 'flow', '--uses', `${CONFIG_DIR}/flow.yml`],
    // The token comes from the environment and is never written to a file.
    environment: hasToken ? { [TOKEN_VARIABLE]: `\${${TOKEN_VARIABLE}:?}` } : undefined,
    configs: [configMount(host, 'flow.yml')],
    volumes: hasTls ? [`./tls:${TLS_DIR}:ro`] : undefined,
    ports: ports.map((one) => `${one.port}:${one.port}`),
    ...metricsOf(metricsPort),
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
  const volumes = executors.flatMap(namedVolumes);
  return stringify(
    omitEmpty({
      services: {
        [gateway.host]: gatewayService(gateway, executors, options.image),
        ...Object.fromEntries(executors.map((one) => [one.host, executorService(one, options.image)])),
      },
      configs: Object.fromEntries(
        [gateway, ...executors].map(({ host, yaml }) => [host, { content: escapeDollars(yaml) }]),
      ),
      volumes: Object.fromEntries(volumes.map(({ name }) => [name, {}])),
    }),
    { aliasDuplicateObjects: false },
  );
}
