/** The report behind `/status`. It lists only known names, so that no other environment variable leaks. */
import { randomUUID } from 'node:crypto';
import os from 'node:os';

const UNSET = '(unset)';

const NAMES = [
  'jina',
  'docarray',
  'jcloud',
  'jina-hubble-sdk',
  'jina-proto',
  'protobuf',
  'proto-backend',
  'grpcio',
  'pyyaml',
  'python',
  'platform',
  'platform-release',
  'platform-version',
  'architecture',
  'processor',
  'uid',
  'session-id',
  'uptime',
  'ci-vendor',
  'internal',
] as const;

const V1_NAMES = [
  'jina',
  'jina-proto',
  'jina-vcs-tag',
  'libzmq',
  'pyzmq',
  'protobuf',
  'proto-backend',
  'grpcio',
  'pyyaml',
  'python',
  'platform',
  'platform-release',
  'platform-version',
  'architecture',
  'processor',
  'jina-resources',
] as const;

const ENVIRONMENT = [
  'JINA_DEFAULT_HOST',
  'JINA_DEFAULT_TIMEOUT_CTRL',
  'JINA_DEPLOYMENT_NAME',
  'JINA_DISABLE_UVLOOP',
  'JINA_EARLY_STOP',
  'JINA_FULL_CLI',
  'JINA_GATEWAY_IMAGE',
  'JINA_GRPC_RECV_BYTES',
  'JINA_GRPC_SEND_BYTES',
  'JINA_HUB_NO_IMAGE_REBUILD',
  'JINA_LOG_CONFIG',
  'JINA_LOG_LEVEL',
  'JINA_LOG_NO_COLOR',
  'JINA_MP_START_METHOD',
  'JINA_OPTOUT_TELEMETRY',
  'JINA_RANDOM_PORT_MAX',
  'JINA_RANDOM_PORT_MIN',
] as const;

export interface StatusReportInput {
  /** Product version. Clients regard a string at `jina.jina` as proof of a connection. */
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface StatusReport {
  readonly jina: Readonly<Record<string, string>>;
  readonly envs: Readonly<Record<string, string>>;
}

let session: string | undefined;

/** Values for the report. Names without a counterpart here are `(unset)`. */
function knownValues(version: string): Record<string, string> {
  session ??= randomUUID();
  return {
    jina: version,
    platform: os.type(),
    'platform-release': os.release(),
    'platform-version': os.version(),
    architecture: os.machine(),
    processor: os.arch(),
    'session-id': session,
    uptime: new Date(performance.timeOrigin).toISOString(),
    'proto-backend': 'javascript',
  };
}

const pick = (names: readonly string[], values: Readonly<Record<string, string | undefined>>) =>
  Object.fromEntries(names.map((name) => [name, values[name] || UNSET]));

export const createStatusReport = (
  { version, environment }: StatusReportInput,
  names: readonly string[] = NAMES,
): StatusReport => ({
  jina: pick(names, knownValues(version)),
  envs: pick(ENVIRONMENT, environment),
});

/** The report as JSON text, in the format of the given REST version. */
export function writeStatusReport({ form, ...facts }: StatusReportInput & { readonly form: '1' | '2' | '3' }): string {
  const report = createStatusReport(facts, form === '1' ? V1_NAMES : NAMES);
  if (form === '3') return JSON.stringify(report);
  const used = `${(process.memoryUsage.rss() / 2 ** 20).toFixed(1)} MB`;
  return JSON.stringify({ ...report, [form === '1' ? 'used_memory' : 'usedMemory']: used });
}
