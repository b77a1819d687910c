/** Exported flows, checked against the schemas of their platforms and parsed back. */
import Ajv from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { defineExecutor } from '../definition/define-executor.ts';
import type { FlowDefinition } from '../definition/definition.ts';
import { parseFlow } from '../definition/yaml.ts';
import { exportFlow } from './index.ts';

const TEXT = `
jtype: Flow
with:
  name: My_Flow
  protocol: [grpc, http]
  port: [9000, 9001]
  token: very-secret-token
  title: Costs $5
  ssl_certfile: /somewhere/cert.pem
  ssl_keyfile: /somewhere/key.pem
executors:
  - name: Read_er
    uses: Reader
    modules: [parts/reader.js, ../elsewhere.js]
    uses_with: {limit: 3, price: "$5"}
    replicas: 2
    env: {KEY: value}
    uses_dynamic_batching: {/x: {preferred_batch_size: 4, timeout: 10}}
  - {name: store, uses: Store, workspace: kept, needs: gateway, timeout_ready: 5000, max_memory_bytes: 500000000, own_process: true}
  - {name: split, uses: Part, shards: 2, polling: ALL, uses_after: {jtype: After, with: {a: 1}}, needs: Read_er, when: {tags__a: {$gt: 1}}}
  - {name: far, external: true, host: far.example, port: 33, tls: true, needs: store, grpc_metadata: {k: v}}
  - {name: join, uses: Join, needs: [split, far], no_reduce: true}
  - {name: side, uses: Side, floating: true}
`;

const definition = parseFlow(TEXT, { baseDir: '/home/me/flow' });
const OPTIONS = { image: 'registry.example/lectern:1', baseDir: '/home/me/flow' };

const files = (kind: 'kubernetes' | 'compose' | 'flowchart', of: FlowDefinition = definition) =>
  exportFlow(kind, of, OPTIONS);

interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  // biome-ignore lint/suspicious/noExplicitAny: a manifest's shape is what is tested.
  spec: any;
  data: Record<string, string>;
}

const manifests = (): Manifest[] =>
  files('kubernetes').flatMap(({ text }) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));

/** A Kubernetes name (RFC 1035), as Services require. */
const NAME = { type: 'string', pattern: '^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$' };
const PORT = { type: 'integer', minimum: 1, maximum: 65_535 };
const PORT_NAME = { type: 'string', pattern: '^[a-z0-9-]{1,15}$' };
const LABELS = {
  type: 'object',
  minProperties: 1,
  additionalProperties: { type: 'string', pattern: '^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$' },
};
const QUANTITY = { type: 'string', pattern: '^\\d+(m|Ki|Mi|Gi|Ti)?$' };
const object = (properties: Record<string, unknown>, required = Object.keys(properties), more = false) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: more,
});
const list = (items: unknown, minItems = 1) => ({ type: 'array', items, minItems });

const PROBE = {
  ...object(
    {
      grpc: object({ port: PORT }),
      httpGet: object({ path: { type: 'string' }, port: PORT, scheme: { enum: ['HTTP', 'HTTPS'] } }, ['path', 'port']),
      tcpSocket: object({ port: PORT }),
      periodSeconds: { type: 'integer', minimum: 1 },
      failureThreshold: { type: 'integer', minimum: 1 },
    },
    ['periodSeconds'],
  ),
  oneOf: [{ required: ['grpc'] }, { required: ['httpGet'] }, { required: ['tcpSocket'] }],
};
const POD = object({
  metadata: object({ labels: LABELS, annotations: { type: 'object' } }),
  spec: object({
    automountServiceAccountToken: { const: false },
    terminationGracePeriodSeconds: { type: 'integer' },
    securityContext: object(
      { runAsNonRoot: { const: true }, seccompProfile: object({ type: { const: 'RuntimeDefault' } }) },
      undefined,
      true,
    ),
    containers: list(
      object(
        {
          name: NAME,
          image: { type: 'string' },
          args: list({ type: 'string' }),
          ports: list(object({ name: PORT_NAME, containerPort: PORT, protocol: { const: 'TCP' } })),
          env: list(
            object({ name: { type: 'string' }, value: { type: 'string' }, valueFrom: { type: 'object' } }, ['name']),
          ),
          startupProbe: PROBE,
          readinessProbe: PROBE,
          livenessProbe: PROBE,
          resources: object({
            requests: object({ cpu: QUANTITY, memory: QUANTITY }),
            limits: { type: 'object', additionalProperties: QUANTITY },
          }),
          securityContext: object({ allowPrivilegeEscalation: { const: false }, capabilities: { type: 'object' } }),
          volumeMounts: list(
            object({ name: NAME, mountPath: { type: 'string' }, readOnly: { const: true } }, ['name', 'mountPath']),
          ),
        },
        [
          'name',
          'image',
          'args',
          'ports',
          'startupProbe',
          'readinessProbe',
          'livenessProbe',
          'resources',
          'volumeMounts',
        ],
      ),
    ),
    volumes: list({ type: 'object', required: ['name'] }),
  }),
});
const SELECTOR = object({ matchLabels: LABELS });

/** The fields of each kind used here, from the published API. No other fields are allowed. */
const KINDS: Record<string, { apiVersion: string; spec?: unknown }> = {
  ConfigMap: { apiVersion: 'v1' },
  Service: {
    apiVersion: 'v1',
    spec: object(
      {
        clusterIP: { const: 'None' },
        selector: LABELS,
        ports: list(
          object({
            name: PORT_NAME,
            port: PORT,
            targetPort: PORT,
            protocol: { const: 'TCP' },
            appProtocol: { type: 'string' },
          }),
        ),
      },
      ['selector', 'ports'],
    ),
  },
  Deployment: { apiVersion: 'apps/v1', spec: object({ selector: SELECTOR, template: POD }) },
  StatefulSet: {
    apiVersion: 'apps/v1',
    spec: object({
      selector: SELECTOR,
      template: POD,
      replicas: { type: 'integer', minimum: 1 },
      serviceName: NAME,
      volumeClaimTemplates: list(
        object({
          metadata: object({ name: NAME }),
          spec: object({
            accessModes: list({ enum: ['ReadWriteOnce'] }),
            resources: object({ requests: object({ storage: QUANTITY }) }),
          }),
        }),
      ),
    }),
  },
  HorizontalPodAutoscaler: {
    apiVersion: 'autoscaling/v2',
    spec: object({
      scaleTargetRef: object({ apiVersion: { const: 'apps/v1' }, kind: { const: 'Deployment' }, name: NAME }),
      minReplicas: { type: 'integer', minimum: 1 },
      maxReplicas: { type: 'integer', minimum: 1 },
      metrics: list({ type: 'object', required: ['type', 'resource'] }),
    }),
  },
  PodDisruptionBudget: {
    apiVersion: 'policy/v1',
    spec: object({ maxUnavailable: { type: 'integer' }, selector: SELECTOR }),
  },
};

describe('for Kubernetes', () => {
  it('writes valid manifests of each kind', () => {
    const ajv = new Ajv.default({ allErrors: true, strict: false });
    const all = manifests();
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(Object.keys(KINDS)));
    for (const manifest of all) {
      const { apiVersion, spec } = KINDS[manifest.kind]!;
      expect(manifest.apiVersion).toBe(apiVersion);
      const schema = object({
        apiVersion: { type: 'string' },
        kind: { type: 'string' },
        metadata: object({ name: NAME, labels: LABELS }),
        ...(spec ? { spec } : { data: { type: 'object', additionalProperties: { type: 'string' } } }),
      });
      ajv.validate(schema, manifest);
      expect({ name: manifest.metadata.name, kind: manifest.kind, errors: ajv.errors }).toMatchObject({ errors: null });
    }
  });

  it('links services, selectors and volumes consistently', () => {
    const all = manifests();
    const named = (kind: string) => all.filter((one) => one.kind === kind);
    const workloads = [...named('Deployment'), ...named('StatefulSet')];
    expect(workloads.map(({ metadata }) => metadata.name).sort()).toEqual([
      'my-flow-gateway',
      'my-flow-read-er',
      'my-flow-side',
      'my-flow-split',
      'my-flow-store',
    ]);
    for (const { metadata, spec } of workloads) {
      expect(spec.template.metadata.labels).toMatchObject(spec.selector.matchLabels);
      const service = named('Service').find((one) => one.metadata.name === metadata.name)!;
      expect(service.spec.selector).toEqual(spec.selector.matchLabels);
      const [container] = spec.template.spec.containers;
      expect(service.spec.ports.map(({ port }: { port: number }) => port)).toEqual(
        container.ports.map(({ containerPort }: { containerPort: number }) => containerPort),
      );
      const mounted = container.volumeMounts.map(({ name }: { name: string }) => name);
      const claims = (spec.volumeClaimTemplates ?? []).map((one: Manifest) => one.metadata.name);
      const volumes = spec.template.spec.volumes.map(({ name }: { name: string }) => name);
      expect(mounted.sort()).toEqual([...volumes, ...claims].sort());
    }
    for (const { spec } of named('HorizontalPodAutoscaler')) {
      expect(named('Deployment').map(({ metadata }) => metadata.name)).toContain(spec.scaleTargetRef.name);
      expect(spec.maxReplicas).toBeGreaterThanOrEqual(spec.minReplicas);
    }
  });

  it('configures the gateway with the same flow and external executors', () => {
    const gateway = manifests().find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'my-flow-gateway',
    )!;
    const flow = parseFlow(gateway.data['flow.yml']!, { env: { FLOW_TOKEN: 'given' } });
    expect(flow.warnings).toEqual([]);
    expect(flow.gateway).toMatchObject({
      protocols: ['GRPC', 'HTTP'],
      ports: [9000, 9001],
      token: 'given',
      title: 'Costs $5',
    });
    const graph = (of: FlowDefinition) =>
      of.deployments.map(({ name, needs, floating, when, reduce }) => ({ name, needs, floating, when, reduce }));
    expect(graph(flow)).toEqual(graph(definition));
    expect(flow.deployments.map(({ name, external }) => [name, external?.[0]?.host])).toEqual([
      ['Read_er', 'my-flow-read-er'],
      ['store', 'my-flow-store'],
      ['split', 'my-flow-split'],
      ['far', 'far.example'],
      ['join', undefined],
      ['side', 'my-flow-side'],
    ]);
    expect(flow.deployments[3]).toMatchObject({ tls: true, grpcMetadata: { k: 'v' } });
  });

  it('contains no secret and no local path', () => {
    const text = files('kubernetes')
      .map((file) => file.text)
      .join('');
    expect(text).not.toContain('very-secret-token');
    expect(text).not.toContain('/home/me');
    expect(text).not.toContain('/somewhere');
    expect(text).toContain('/flow/parts/reader.js');
    expect(text).toContain('secretKeyRef');
  });

  it('keeps the configuration of executors', () => {
    const config = manifests().find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'my-flow-read-er',
    )!;
    const uses = parse(config.data['executor.yml']!) as Record<string, unknown>;
    const { definition: one } = defineExecutor({ uses });
    expect(one.source).toMatchObject({
      uses: 'Reader',
      options: { limit: 3, price: '$5' },
      batching: { '/x': { preferredBatchSize: 4, timeoutMs: 10 } },
      modules: ['/flow/parts/reader.js', '/flow/elsewhere.js'],
    });
    const store = manifests().filter(({ metadata }) => metadata.name === 'my-flow-store');
    expect(JSON.stringify(store)).toContain('"--own-process","true","--max-memory-bytes","500000000"');
  });
});

describe('for Compose', () => {
  const read = () => parse(files('compose')[0]!.text);

  it('has a service with configuration and health check for each part', () => {
    const { services, configs, volumes } = read();
    expect(Object.keys(services)).toEqual(['gateway', 'read-er', 'store', 'split', 'side']);
    expect(Object.keys(configs)).toEqual(Object.keys(services));
    expect(volumes).toEqual({ store: {} });
    for (const [name, service] of Object.entries<Record<string, unknown>>(services)) {
      expect(service).toMatchObject({ image: OPTIONS.image, configs: [{ source: name }], cap_drop: ['ALL'] });
    }
    expect(services['read-er']).toMatchObject({ deploy: { replicas: 2 }, environment: { KEY: 'value' } });
    expect(services.gateway).toMatchObject({
      ports: ['9000:9000', '9001:9001'],
      environment: { FLOW_TOKEN: ['$', '{FLOW_TOKEN:?}'].join('') },
    });
    expect(Object.keys(services.gateway.depends_on)).toEqual(['read-er', 'store', 'split', 'side']);
  });

  it('escapes dollars', () => {
    const { configs } = read();
    const content = configs.gateway.content.replaceAll('$$', '$');
    expect(configs.gateway.content).toContain('Costs $$5');
    expect(parseFlow(content, { env: { FLOW_TOKEN: 'x' } }).deployments).toHaveLength(6);
  });
});

it('draws the graph', () => {
  const [chart] = files('flowchart');
  expect(chart!.text.split('\n').slice(0, 4)).toEqual([
    'flowchart LR',
    '  start([gateway])',
    '  e0["Read_er<br/>Reader<br/>2 replicas"]',
    '  e1["store<br/>Store"]',
  ]);
  expect(chart!.text).toContain('e0 -->|"{#quot;tags__a#quot;:{#quot;$gt#quot;:1}}"| e2');
  expect(chart!.text).toContain('-.-> e5');
  expect(chart!.text).toContain('e4 --> finish([gateway])');
});

it('refuses a class that other machines cannot load', () => {
  const [one] = definition.deployments;
  class Local {}
  const local = { ...definition, deployments: [{ ...one!, source: { ...one!.source, uses: Local as never } }] };
  for (const kind of ['kubernetes', 'compose'] as const)
    expect(() => files(kind, local)).toThrow('is a class of this program');
});
