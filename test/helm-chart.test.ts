/** The Helm chart, rendered by Helm: it matches the schemas of Kubernetes and this server. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAllDocuments, stringify } from 'yaml';
import { HEALTH_PATHS } from '#api/health.ts';
import { COMMANDS } from '#cli/commands.ts';
import { environmentName, readConfig, SETTING_NAMES } from '#config.ts';
import { METRICS } from '#telemetry/metrics-table.ts';
import packageFile from '../package.json' with { type: 'json' };
import { type Helm, openHelm } from './support/helm.ts';
import { kubernetesViolations, validateManifest } from './support/manifest-schemas.ts';

const CHART = path.join(import.meta.dirname, '../deploy/helm/lectern');

let folder: string;
let helm: Helm;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-helm-'));
  helm = openHelm(folder);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Manifests as parsed from YAML.
// biome-ignore lint/suspicious/noExplicitAny: their shape is what is tested.
type Manifest = any;

async function render(values: object = {}): Promise<Manifest[]> {
  const file = path.join(folder, 'values.yaml');
  writeFileSync(file, stringify(values));
  const text = await helm.run('template', 'demo', CHART, '--values', file);
  return parseAllDocuments(text)
    .map((document) => {
      expect(document.errors).toEqual([]);
      return document.toJS();
    })
    .filter((manifest) => manifest !== null);
}

const ofKind = (manifests: readonly Manifest[], kind: string, name?: string): Manifest[] =>
  manifests.filter((one) => one.kind === kind && (name === undefined || one.metadata.name === name));
const workloads = (manifests: readonly Manifest[]): Manifest[] =>
  manifests.filter(({ kind }) => kind === 'Deployment' || kind === 'StatefulSet');
const containers = (manifests: readonly Manifest[]): Manifest[] =>
  workloads(manifests).flatMap(({ spec }) => spec.template.spec.containers);

/** The times of a container to drain, as set by its environment. */
const drainTimes = (env: Record<string, string | undefined>) => {
  const { drainMs, drainDelayMs } = readConfig({
    environment: { LECTERN_DRAIN_MS: env.LECTERN_DRAIN_MS, LECTERN_DRAIN_DELAY_MS: env.LECTERN_DRAIN_DELAY_MS },
  });
  return { drainMs, drainDelayMs };
};

const EVERYTHING = {
  imagePullSecrets: [{ name: 'registry' }],
  settings: { drainMs: 30_000, cacheMaxBytes: 1_000_000_000, allowNetworks: '10.1.0.0/16', searchKeyless: 'limited' },
  server: {
    settings: {
      searchProviders: [{ name: 'searxng', url: 'http://searxng:8080' }],
      remoteWork: 'documents,ocr,embed',
    },
    service: { type: 'LoadBalancer', annotations: { 'example.com/kind': 'internal' } },
    autoscaling: { queue: { enabled: true } },
    nodeSelector: { pool: 'reading' },
    tolerations: [{ key: 'reading', operator: 'Exists' }],
  },
  workers: {
    jobs: { autoscaling: { queue: { enabled: true } } },
    requests: { enabled: true, autoscaling: { queue: { enabled: true } } },
  },
  secrets: { browserToken: { name: 'lectern', key: 'browser-token' } },
  browsers: { enabled: true, replicas: 3, settings: { pageMemoryMb: 256 } },
  networkPolicy: {
    callers: [{ podSelector: { matchLabels: { app: 'gateway' } } }],
    scrapers: [{ namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } }],
  },
  serviceMonitor: { enabled: true, labels: { release: 'prometheus' } },
};
const FIXED_SIZE = {
  server: { replicas: 3, autoscaling: { enabled: false } },
  workers: { jobs: null },
  networkPolicy: { enabled: false },
};

describe.each([
  ['as it is', {}],
  ['with everything', EVERYTHING],
  ['of a fixed size, without workers', FIXED_SIZE],
])('the chart %s', (_, values) => {
  it('matches the schemas of Kubernetes', { timeout: 60_000 }, async () => {
    const manifests = await render(values);
    for (const manifest of manifests) await validateManifest(manifest);
    const ofKubernetes = manifests.filter(({ kind }) => kind !== 'ServiceMonitor');
    expect(await kubernetesViolations(ofKubernetes)).toEqual([]);
    expect(await helm.run('lint', '--strict', CHART, '--values', path.join(folder, 'values.yaml'))).toContain(
      '0 chart(s) failed',
    );
  });

  it('sets only known settings, to values that the server accepts', async () => {
    const manifests = await render(values);
    const known = SETTING_NAMES.map(environmentName);
    expect(containers(manifests).length).toBeGreaterThan(0);
    for (const { env } of containers(manifests)) {
      const variables: { name: string; value?: string }[] = env;
      const names = variables.map(({ name }) => name);
      expect(names.filter((name) => name !== 'HOME' && !known.includes(name))).toEqual([]);
      expect(new Set(names).size).toBe(names.length);
      const given = variables.filter(({ value }) => value !== undefined).map(({ name, value }) => [name, value]);
      const podIp = names.includes('LECTERN_EGRESS_PROXY_HOST') ? { LECTERN_EGRESS_PROXY_HOST: '10.0.0.5' } : {};
      expect(() => readConfig({ environment: { ...Object.fromEntries(given), ...podIp } })).not.toThrow();
    }
  });

  it('runs unprivileged, with a read-only root, and waits for requests in flight', async () => {
    const manifests = await render(values);
    for (const { spec } of workloads(manifests)) {
      const pod = spec.template.spec;
      expect(pod.automountServiceAccountToken).toBe(false);
      expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
      const [container] = pod.containers;
      expect(container.securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(container.resources.requests.memory).toBeDefined();
      expect(container.resources.limits.memory).toBeDefined();
      const writable = container.volumeMounts.map(({ mountPath }: Manifest) => mountPath);
      expect(writable).toEqual(expect.arrayContaining(['/data', '/tmp', '/dev/shm']));
      const env = Object.fromEntries(container.env.map(({ name, value }: Manifest) => [name, value]));
      const { drainMs, drainDelayMs } = drainTimes(env);
      expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(drainMs + drainDelayMs);
    }
  });
});

it('opens the ports that the server listens on, and probes existing paths', async () => {
  const manifests = await render();
  const [deployment] = ofKind(manifests, 'Deployment', 'demo-server');
  const [container] = deployment.spec.template.spec.containers;
  const { readerPort, searchPort, modelPort, flowPort, flowGrpcPort, compatPort } = readConfig({});
  const ports = container.ports.map(({ name, containerPort }: Manifest) => [name, containerPort]);
  expect(ports.slice(0, -1).map(([, port]: [string, number]) => port)).toEqual([
    readerPort,
    searchPort,
    modelPort,
    flowPort,
    flowGrpcPort,
    compatPort,
  ]);
  const byName = Object.fromEntries(ports);
  const [service] = ofKind(manifests, 'Service', 'demo');
  for (const { port, targetPort } of service.spec.ports) expect(byName[targetPort]).toBe(port);
  expect(service.spec.selector).toEqual(deployment.spec.selector.matchLabels);
  for (const { spec } of workloads(await render(EVERYTHING))) {
    const [{ startupProbe, livenessProbe, readinessProbe, ports: opened }] = spec.template.spec.containers;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect(HEALTH_PATHS).toContain(httpGet.path);
      expect(opened.map(({ name }: Manifest) => name)).toContain(httpGet.port);
    }
  }
});

it('starts commands that exist', async () => {
  const commands = containers(await render(EVERYTHING)).flatMap(({ args }) => (args ? [args] : []));
  expect(commands.map((args) => args.slice(0, 2))).toEqual(commands.map(() => ['node', 'dist/main.js']));
  const names = COMMANDS.map(({ name }) => name);
  expect(commands.map(([, , command]) => command).sort()).toEqual(['browser-worker', 'worker', 'worker']);
  expect(names).toEqual(expect.arrayContaining(['browser-worker', 'worker']));
});

it('scales by processor time, and by metrics that exist', async () => {
  const manifests = await render(EVERYTHING);
  for (const { spec } of ofKind(manifests, 'HorizontalPodAutoscaler')) {
    expect(ofKind(manifests, 'Deployment', spec.scaleTargetRef.name)).toHaveLength(1);
    const [cpu, queue] = spec.metrics;
    expect(cpu.resource.name).toBe('cpu');
    expect(Object.keys(METRICS)).toContain((queue.pods ?? queue.external).metric.name);
  }
  // Their number is left to the autoscaler.
  expect(ofKind(manifests, 'Deployment').filter(({ spec }) => spec.replicas !== undefined)).toEqual([]);
  expect(ofKind(await render(FIXED_SIZE), 'Deployment', 'demo-server')[0].spec.replicas).toBe(3);
});

it('limits the network to DNS, the stores and the public web', async () => {
  const [policy] = ofKind(await render(), 'NetworkPolicy', 'demo-egress');
  const [dns, postgres, redis, web, ...others] = policy.spec.egress;
  expect(policy.spec.policyTypes).toContain('Egress');
  expect(others).toEqual([]);
  expect(dns.ports.map(({ port }: Manifest) => port)).toEqual([53, 53]);
  expect([postgres, redis].map(({ ports }) => ports[0].port)).toEqual([5432, 6379]);
  const [ipv4, ipv6] = web.to.map(({ ipBlock }: Manifest) => ipBlock.except);
  expect(ipv4).toEqual(expect.arrayContaining(['10.0.0.0/8', '169.254.0.0/16', '192.168.0.0/16']));
  expect(ipv6).toContain('fc00::/7');
});

it('lets browsers in pods of their own reach only the egress proxies', async () => {
  const manifests = await render(EVERYTHING);
  const { egressProxyPort, browserWorkerPort } = readConfig({});
  const [server] = ofKind(manifests, 'Deployment', 'demo-server');
  const [{ env, ports }] = server.spec.template.spec.containers;
  const variables = Object.fromEntries(env.map(({ name, ...value }: Manifest) => [name, value]));
  expect(variables.LECTERN_BROWSER_URL.value.split(',')).toEqual(
    [0, 1, 2].map((at) => `http://demo-browsers-${at}.demo-browsers:${browserWorkerPort}`),
  );
  expect(variables.LECTERN_EGRESS_PROXY_HOST.valueFrom.fieldRef.fieldPath).toBe('status.podIP');
  expect(ports).toContainEqual({ name: 'egress', containerPort: egressProxyPort });
  const [policy] = ofKind(manifests, 'NetworkPolicy', 'demo-browsers');
  expect(policy.spec.policyTypes).toEqual(['Ingress', 'Egress']);
  expect(policy.spec.egress).toHaveLength(1);
  expect(policy.spec.egress[0].ports).toEqual([{ port: 'egress', protocol: 'TCP' }]);
  const [browsers] = ofKind(manifests, 'StatefulSet', 'demo-browsers');
  expect(policy.spec.podSelector.matchLabels).toEqual(browsers.spec.selector.matchLabels);
  // They have none of the other secrets.
  const secrets = browsers.spec.template.spec.containers[0].env.filter(({ valueFrom }: Manifest) => valueFrom);
  expect(secrets.map(({ name }: Manifest) => name)).toEqual(['LECTERN_BROWSER_TOKEN']);
  await expect(render({ browsers: { enabled: true } })).rejects.toThrow('secrets.browserToken is required');
});

it('covers every pod by a disruption budget, and the service of metrics', async () => {
  const manifests = await render(EVERYTHING);
  const budgets = ofKind(manifests, 'PodDisruptionBudget').map(({ spec }) => spec.selector.matchLabels);
  expect(budgets).toEqual(expect.arrayContaining(workloads(manifests).map(({ spec }) => spec.selector.matchLabels)));
  const [metrics] = ofKind(manifests, 'Service', 'demo-metrics');
  const [monitor] = ofKind(manifests, 'ServiceMonitor');
  expect(metrics.metadata.labels).toMatchObject(monitor.spec.selector.matchLabels);
  expect(monitor.metadata.labels).toMatchObject({ release: 'prometheus', 'app.kubernetes.io/name': 'lectern' });
});

it('gives all servers and workers a bucket, and its secret key by reference', async () => {
  const bucket = { blobsUrl: 's3://pages/lectern', blobsEndpoint: 'https://s3.internal:9000' };
  const manifests = await render({
    // An unquoted `on` in a values file is true for Helm.
    settings: { ...bucket, blobsPathStyle: true, blobsAccessKey: 'lectern' },
    secrets: { blobsSecretKey: { name: 'bucket', key: 'secret' } },
  });
  const programs = ofKind(manifests, 'Deployment');
  expect(programs.length).toBeGreaterThan(1);
  for (const { env } of containers(programs)) {
    const byName = new Map<string, Manifest>(env.map((one: Manifest) => [one.name, one]));
    expect(byName.get('LECTERN_BLOBS_SECRET_KEY').valueFrom.secretKeyRef).toEqual({ name: 'bucket', key: 'secret' });
    const environment = Object.fromEntries(env.flatMap(({ name, value }: Manifest) => (value ? [[name, value]] : [])));
    expect(readConfig({ environment })).toMatchObject({ ...bucket, blobsPathStyle: 'on', blobsAccessKey: 'lectern' });
  }
});

it('refuses values that it does not know, and servers without a shared database', async () => {
  await expect(render({ sever: { replicas: 2 } })).rejects.toThrow(/sever/);
  await expect(render({ secrets: { databaseUrl: null } })).rejects.toThrow('the servers share one PostgreSQL database');
});

it('has the version of the package', async () => {
  const { version, appVersion } = parseAllDocuments(await helm.run('show', 'chart', CHART))[0]!.toJS() as Manifest;
  expect([version, appVersion]).toEqual([packageFile.version, packageFile.version]);
});
