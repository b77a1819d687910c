/**
 * Writes Kubernetes manifests: the gateway and each executor run as separate programs, find each other by name and have
 * health probes. Executors that store data are StatefulSets with a volume each; the others are Deployments with an
 * autoscaler.
 */
import { createHash } from 'node:crypto';
import { stringify } from 'yaml';
import type { FlowDefinition, Protocol } from '../definition/definition.ts';
import type { Volume } from './data.ts';
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

type Manifest = Readonly<Record<string, unknown>>;

const COMMAND = ['node', 'dist/main.js'];
/** User id of the process in the image. */
const USER_ID = 1000;
/** Interval between probes. */
const PROBE_SECONDS = 5;
const MAX_SCALE_FACTOR = 4;
const GRACE_SECONDS = 30;
const WITHOUT_ALIASES = { aliasDuplicateObjects: false };

/** Converts a free-form name to a valid Kubernetes name. */
const flowName = (name: string): string =>
  name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^[-\d]+|-+$/g, '')
    .slice(0, 40) || 'flow';

interface Target {
  readonly flow: string;
  readonly image: string;
  readonly namespace: string | undefined;
}

/** One program of the flow: the gateway or an executor. */
interface Unit {
  /** Name of the Kubernetes objects, and host name of the program. */
  readonly name: string;
  readonly component: 'gateway' | 'executor';
  readonly file: string;
  readonly yaml: string;
  readonly args: readonly string[];
  readonly ports: readonly { readonly name: string; readonly port: number; readonly protocol: Protocol }[];
  readonly env: readonly Manifest[];
  readonly replicas: number;
  readonly startSeconds: number;
  readonly gpus: number;
  readonly hasTls: boolean;
  readonly keepsData: boolean;
  readonly volumes: readonly Volume[];
  readonly metricsPort: number | undefined;
}

const METRICS_PORT_NAME = 'metrics';
const DATA_VOLUME = 'data';

const labelsOf = ({ name, component }: Unit, { flow }: Target) => ({
  'app.kubernetes.io/name': name,
  'app.kubernetes.io/instance': flow,
  'app.kubernetes.io/component': component,
});

const metadata = (unit: Unit, target: Target) =>
  omitEmpty({
    name: unit.name,
    namespace: target.namespace,
    labels: { ...labelsOf(unit, target), 'app.kubernetes.io/part-of': target.flow },
  });

const configMap = (unit: Unit, target: Target): Manifest => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: metadata(unit, target),
  data: { [unit.file]: unit.yaml },
});

/** Uses a gRPC health check, else HTTP, else a connection to the port. Kubernetes cannot probe gRPC with TLS. */
function probeOf({ ports, hasTls }: Unit): Manifest {
  const grpc = ports.find(({ protocol }) => protocol === 'GRPC');
  const http = ports.find(({ protocol }) => protocol !== 'GRPC');
  if (http) return { httpGet: { path: '/', port: http.port, ...(hasTls && { scheme: 'HTTPS' }) } };
  return hasTls ? { tcpSocket: { port: grpc!.port } } : { grpc: { port: grpc!.port } };
}

function container(unit: Unit, { image }: Target): Manifest {
  const probe = probeOf(unit);
  const gpus = unit.gpus > 0 ? { 'nvidia.com/gpu': String(unit.gpus) } : {};
  return omitEmpty({
    name: unit.component,
    image,
    args: [...COMMAND, ...unit.args],
    ports: [
      ...unit.ports,
      ...(unit.metricsPort === undefined ? [] : [{ name: METRICS_PORT_NAME, port: unit.metricsPort }]),
    ].map(({ name, port }) => ({ name, containerPort: port, protocol: 'TCP' })),
    env: unit.env,
    startupProbe: {
      ...probe,
      periodSeconds: PROBE_SECONDS,
      failureThreshold: Math.ceil(unit.startSeconds / PROBE_SECONDS),
    },
    readinessProbe: { ...probe, periodSeconds: PROBE_SECONDS },
    livenessProbe: { ...probe, periodSeconds: 10, failureThreshold: 6 },
    resources: {
      requests: { cpu: '250m', memory: '256Mi' },
      limits: { memory: '2Gi', ...gpus },
    },
    securityContext: { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } },
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIR, readOnly: true },
      ...(unit.hasTls ? [{ name: 'tls', mountPath: TLS_DIR, readOnly: true }] : []),
      ...(unit.keepsData ? [{ name: DATA_VOLUME, mountPath: DATA_DIR }] : []),
      ...unit.volumes.map(({ target: mountPath, isReadOnly }, at) => ({
        ...{ name: DATA_VOLUME, mountPath },
        subPath: `volume-${at}`,
        ...(isReadOnly && { readOnly: true }),
      })),
    ],
  });
}

/** Prometheus finds pods by these annotations in its usual configuration for Kubernetes. */
const scrapeAnnotations = ({ metricsPort }: Unit) =>
  metricsPort === undefined
    ? {}
    : {
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': String(metricsPort),
        'prometheus.io/path': '/metrics',
      };

function podTemplate(unit: Unit, target: Target): Manifest {
  return {
    metadata: {
      labels: labelsOf(unit, target),
      // A changed configuration restarts the pod.
      annotations: {
        'lectern/config': createHash('sha256').update(unit.yaml).digest('hex').slice(0, 16),
        ...scrapeAnnotations(unit),
      },
    },
    spec: {
      automountServiceAccountToken: false,
      terminationGracePeriodSeconds: GRACE_SECONDS,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: USER_ID,
        runAsGroup: USER_ID,
        fsGroup: USER_ID,
        seccompProfile: { type: 'RuntimeDefault' },
      },
      containers: [container(unit, target)],
      volumes: [
        { name: 'config', configMap: { name: unit.name } },
        ...(unit.hasTls ? [{ name: 'tls', secret: { secretName: `${target.flow}-tls` } }] : []),
      ],
    },
  };
}

function workload(unit: Unit, target: Target): Manifest {
  const spec = { selector: { matchLabels: labelsOf(unit, target) }, template: podTemplate(unit, target) };
  const head = (kind: string) => ({ apiVersion: 'apps/v1', kind, metadata: metadata(unit, target) });
  // The autoscaler sets the number of replicas.
  if (!unit.keepsData) return { ...head('Deployment'), spec };
  const claim = {
    metadata: { name: DATA_VOLUME },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '10Gi' } } },
  };
  return {
    ...head('StatefulSet'),
    spec: { ...spec, replicas: unit.replicas, serviceName: unit.name, volumeClaimTemplates: [claim] },
  };
}

/** Kubernetes names of the protocols, without and with TLS. */
const APP_PROTOCOLS = {
  GRPC: ['grpc', 'grpc'],
  HTTP: ['http', 'https'],
  WEBSOCKET: ['kubernetes.io/ws', 'kubernetes.io/wss'],
} as const;

/** The metrics port of a service, for monitors that find services by port name. */
const metricsServicePort = (port: number) => ({
  ...{ name: METRICS_PORT_NAME, port, targetPort: port, protocol: 'TCP' },
  appProtocol: 'http',
});

function service(unit: Unit, target: Target): Manifest {
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: metadata(unit, target),
    spec: {
      // A headless service: the gateway must see every replica, because its connections are long-lived.
      ...(unit.component === 'executor' && { clusterIP: 'None' }),
      selector: labelsOf(unit, target),
      ports: [
        ...unit.ports.map(({ name, port, protocol }) => ({
          ...{ name, port, targetPort: port, protocol: 'TCP' },
          appProtocol: APP_PROTOCOLS[protocol][unit.hasTls ? 1 : 0],
        })),
        ...(unit.metricsPort === undefined ? [] : [metricsServicePort(unit.metricsPort)]),
      ],
    },
  };
}

const autoscaler = (unit: Unit, target: Target): Manifest => ({
  apiVersion: 'autoscaling/v2',
  kind: 'HorizontalPodAutoscaler',
  metadata: metadata(unit, target),
  spec: {
    scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: unit.name },
    minReplicas: unit.replicas,
    maxReplicas: unit.replicas * MAX_SCALE_FACTOR,
    metrics: [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } } }],
  },
});

/** A disruption budget. Without it, draining a node may stop all replicas at once. */
const disruptionBudget = (unit: Unit, target: Target): Manifest => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: metadata(unit, target),
  spec: { maxUnavailable: 1, selector: { matchLabels: labelsOf(unit, target) } },
});

const NO_TIMEOUT_SECONDS = 24 * 3600;

function executorUnit({ definition, host, yaml, args, keepsData, volumes, metricsPort }: ExecutorPart): Unit {
  const { replicas, timeoutReadyMs, rest } = definition;
  const env = { ...(keepsData && { [DATA_VARIABLE]: DATA_DIR }), ...definition.env };
  const gpus = Number(rest.gpus ?? 0);
  return {
    name: host,
    component: 'executor',
    file: 'executor.yml',
    yaml,
    args,
    ports: [{ name: 'grpc', port: EXECUTOR_PORT, protocol: 'GRPC' }],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    replicas,
    startSeconds: timeoutReadyMs < 0 ? NO_TIMEOUT_SECONDS : timeoutReadyMs / 1000,
    gpus: Number.isInteger(gpus) && gpus > 0 ? gpus : 0,
    hasTls: false,
    keepsData,
    volumes,
    metricsPort,
  };
}

function gatewayUnit(part: GatewayPart, replicas: number, { flow }: Target): Unit {
  const { host, yaml, ports, hasToken, hasTls, metricsPort } = part;
  const token = { name: TOKEN_VARIABLE, valueFrom: { secretKeyRef: { name: `${flow}-token`, key: 'token' } } };
  return {
    name: host,
    component: 'gateway',
    file: 'flow.yml',
    yaml,
    args: ['flow', '--uses', `${CONFIG_DIR}/flow.yml`],
    ports: ports.map(({ protocol, port }) => ({ name: protocol.toLowerCase(), port, protocol })),
    env: hasToken ? [token] : [],
    replicas,
    startSeconds: 60,
    gpus: 0,
    hasTls,
    keepsData: false,
    volumes: [],
    metricsPort,
  };
}

function manifestsOf(unit: Unit, target: Target): Manifest[] {
  return [
    configMap(unit, target),
    service(unit, target),
    workload(unit, target),
    ...(unit.keepsData ? [] : [autoscaler(unit, target)]),
    ...(unit.replicas > 1 ? [disruptionBudget(unit, target)] : []),
  ];
}

/** One file for the gateway and one for each executor. Throws like `splitFlow`. */
export function kubernetes(definition: FlowDefinition, options: ExportOptions): { name: string; text: string }[] {
  const target: Target = { flow: flowName(definition.name), image: options.image, namespace: options.namespace };
  const { gateway, executors } = splitFlow(definition, { ...options, hostPrefix: `${target.flow}-` });
  const replicas = Number(definition.rest.replicas ?? 1);
  const units = [
    gatewayUnit(gateway, Number.isInteger(replicas) && replicas > 0 ? replicas : 1, target),
    ...executors.map(executorUnit),
  ];
  return units.map((unit) => ({
    name: `${unit.name}.yml`,
    text: manifestsOf(unit, target)
      .map((manifest) => `---\n${stringify(manifest, WITHOUT_ALIASES)}`)
      .join(''),
  }));
}
