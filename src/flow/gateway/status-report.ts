/** The report that `/status` returns. It lists only known names, so that no other environment variable leaks. */
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

/** The variables of the last versions of generation 1. */
const V1_ENVIRONMENT = [
  'JINA_ARRAY_QUANT',
  'JINA_BINARY_DELIMITER',
  'JINA_CONTRIB_MODULE',
  'JINA_CONTRIB_MODULE_IS_LOADING',
  'JINA_CONTROL_PORT',
  'JINA_DEFAULT_HOST',
  'JINA_DISABLE_UVLOOP',
  'JINA_EXECUTOR_WORKDIR',
  'JINA_FULL_CLI',
  'JINA_IPC_SOCK_TMP',
  'JINA_LOG_CONFIG',
  'JINA_LOG_ID',
  'JINA_LOG_LEVEL',
  'JINA_LOG_NO_COLOR',
  'JINA_LOG_WORKSPACE',
  'JINA_OPTIMIZER_TRIAL_WORKSPACE',
  'JINA_POD_NAME',
  'JINA_RANDOM_PORTS',
  'JINA_RANDOM_PORT_MAX',
  'JINA_RANDOM_PORT_MIN',
  'JINA_SOCKET_HWM',
  'JINA_VCS_VERSION',
  'JINA_WARN_UNNAMED',
  'JINA_WORKSPACE',
] as const;

interface ReportNames {
  readonly jina: readonly string[];
  readonly envs: readonly string[];
}

const CURRENT: ReportNames = { jina: NAMES, envs: ENVIRONMENT };
const V1: ReportNames = { jina: V1_NAMES, envs: V1_ENVIRONMENT };

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
  names: ReportNames = CURRENT,
): StatusReport => ({
  jina: pick(names.jina, knownValues(version)),
  envs: pick(names.envs, environment),
});

const UNITS = ['B', 'KB', 'MB', 'GB'];

/** Formats a size as generation 1 does: `65.4 KB`. */
function readableSize(bytes: number): string {
  const power = Math.min(UNITS.length - 1, Math.floor(Math.log2(Math.max(1, bytes)) / 10));
  return `${(bytes / 1024 ** power).toFixed(power === 0 ? 0 : 1)} ${UNITS[power]}`;
}

/** The report as JSON text, in the format of one REST version. */
export function writeStatusReport({ form, ...facts }: StatusReportInput & { readonly form: '1' | '2' | '3' }): string {
  const report = createStatusReport(facts, form === '1' ? V1 : CURRENT);
  if (form === '3') return JSON.stringify(report);
  const used = readableSize(process.memoryUsage.rss());
  return JSON.stringify({ ...report, [form === '1' ? 'used_memory' : 'usedMemory']: used });
}
