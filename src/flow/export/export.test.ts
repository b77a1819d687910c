/** Exported flows, checked against the published schemas of their platforms and parsed back. */
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { composeViolations, kubernetesViolations } from '../../../test/support/manifest-schemas.ts';
import { defineExecutor } from '../definition/define-executor.ts';
import type { FlowDefinition } from '../definition/definition.ts';
import { parseFlow } from '../definition/yaml.ts';
import { exportFlow, exportWarnings } from './index.ts';

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

const manifests = (of: FlowDefinition = definition): Manifest[] =>
  files('kubernetes', of).flatMap(({ text }) => parseAllDocuments(text).map((document) => document.toJS() as Manifest));

/** A Kubernetes name (RFC 1035), as Services require. */
const NAME = /^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/;
const PORT_NAME = /^[a-z0-9-]{1,15}$/;
const LABEL = /^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

const KINDS = ['ConfigMap', 'Service', 'Deployment', 'StatefulSet', 'HorizontalPodAutoscaler', 'PodDisruptionBudget'];

describe('for Kubernetes', () => {
  it('writes manifests of each kind that match the schema', async () => {
    const all = manifests();
    expect(new Set(all.map(({ kind }) => kind))).toEqual(new Set(KINDS));
    expect(await kubernetesViolations(all)).toEqual([]);
    const unknown = all.map((manifest) => ({ ...manifest, unknown: true }));
    expect(await kubernetesViolations(unknown)).toHaveLength(all.length);
  });

  it('uses valid names, labels and probes', () => {
    for (const { kind, metadata, spec } of manifests()) {
      expect(metadata.name).toMatch(NAME);
      for (const label of Object.values(metadata.labels)) expect(label).toMatch(LABEL);
      if (kind === 'Service') for (const { name } of spec.ports) expect(name).toMatch(PORT_NAME);
      if (!spec?.template) continue;
      const [container] = spec.template.spec.containers;
      for (const probe of [container.startupProbe, container.readinessProbe, container.livenessProbe])
        expect(Object.keys(probe).filter((key) => /grpc|httpGet|tcpSocket/.test(key))).toHaveLength(1);
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
      const mounted: string[] = [
        ...new Set(container.volumeMounts.map(({ name }: { name: string }) => name)),
      ] as string[];
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

  it('keeps a workspace in a bucket, with one executor at a time', () => {
    const text = 'jtype: Flow\nexecutors: [{ name: store, uses: Store, workspace: s3://data/flow }]';
    const stores = manifests(parseFlow(text)).filter(({ metadata }) => metadata.name.endsWith('store'));
    expect(JSON.stringify(stores)).toContain('"--workspace","s3://data/flow"');
    expect(stores.find(({ spec }) => spec?.template)).toMatchObject({ kind: 'StatefulSet' });
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

  it('matches the specification', () => {
    expect(composeViolations(read())).toEqual([]);
    expect(composeViolations({ services: { a: { image: 'i', unknown: true } } })).toHaveLength(1);
  });

  it('escapes dollars', () => {
    const { configs } = read();
    const content = configs.gateway.content.replaceAll('$$', '$');
    expect(configs.gateway.content).toContain('Costs $$5');
    expect(parseFlow(content, { env: { FLOW_TOKEN: 'x' } }).deployments).toHaveLength(6);
  });
});

const DATA_TEXT = `
jtype: Flow
with:
  protocol: http
  port: 9000
  monitoring: true
  port_monitoring: 9100
  tracing: true
  traces_exporter_host: collector
  uvicorn_kwargs: {timeout_keep_alive: 5}
  grpc_channel_options: {grpc.keepalive_time_ms: 9}
executors:
  - {name: index, uses: Index, replicas: 2, grpc_server_options: {grpc.max_receive_message_length: -1}}
  - {name: search, uses: Search}
  - {name: own, uses: Index, modules: [index.js], port_monitoring: 9200, reload: true}
  - {name: files, uses: Files, modules: [files.js], volumes: ["/cache", "/srv/data:/in:ro"]}
`;

describe('data and monitoring', () => {
  const flow = parseFlow(DATA_TEXT, { baseDir: '/home/me/flow' });
  const all = manifests(flow);
  const find = (kind: string, name: string) =>
    all.find((one) => one.kind === kind && one.metadata.name === `flow-${name}`);
  const compose = parse(files('compose', flow)[0]!.text);

  it('gives executors that keep data a volume and no autoscaler', async () => {
    const kept = (kind: string) => all.filter((one) => one.kind === kind).map(({ metadata }) => metadata.name);
    expect(kept('StatefulSet')).toEqual(['flow-index', 'flow-search', 'flow-files']);
    expect(kept('Deployment')).toEqual(['flow-gateway', 'flow-own']);
    expect(kept('HorizontalPodAutoscaler')).toEqual(kept('Deployment'));
    for (const name of kept('StatefulSet')) {
      const { spec } = all.find((one) => one.kind === 'StatefulSet' && one.metadata.name === name)!;
      expect(spec.volumeClaimTemplates).toHaveLength(1);
      const [container] = spec.template.spec.containers;
      expect(container.env).toContainEqual({ name: 'LECTERN_DATA_DIR', value: '/data' });
      expect(container.volumeMounts).toContainEqual({ name: 'data', mountPath: '/data' });
    }
    expect(find('StatefulSet', 'index')!.spec.replicas).toBe(2);
    expect(find('StatefulSet', 'files')!.spec.template.spec.containers[0].volumeMounts.slice(-2)).toEqual([
      { name: 'data', mountPath: '/cache', subPath: 'volume-0' },
      { name: 'data', mountPath: '/in', subPath: 'volume-1', readOnly: true },
    ]);
    expect(await kubernetesViolations(all)).toEqual([]);
  });

  it('opens and announces the ports of the metrics', () => {
    for (const [kind, name, port] of [
      ['Deployment', 'gateway', 9100],
      ['StatefulSet', 'index', 9090],
      ['Deployment', 'own', 9200],
    ] as const) {
      const { metadata, spec } = find(kind, name)!.spec.template;
      expect(metadata.annotations).toMatchObject({
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': String(port),
      });
      expect(spec.containers[0].ports).toContainEqual({ name: 'metrics', containerPort: port, protocol: 'TCP' });
      const served = find('Service', name)!.spec.ports.map((one: { name: string; port: number }) => [
        one.name,
        one.port,
      ]);
      expect(served).toContainEqual(['metrics', port]);
    }
    const { args } = find('StatefulSet', 'index')!.spec.template.spec.containers[0];
    expect(args.join(' ')).toContain('--monitoring --port-monitoring 9090 --tracing --traces-exporter-host collector');
    expect(args).toEqual(expect.arrayContaining(['--grpc-server-options', 'grpc.max_receive_message_length: -1']));
    expect(compose.services.index).toMatchObject({
      expose: ['9090'],
      labels: { 'prometheus.io/port': '9090' },
      volumes: ['index:/data'],
      environment: { LECTERN_DATA_DIR: '/data' },
    });
    expect(compose.services.files.volumes).toEqual(['files:/data', 'files-0:/cache', '/srv/data:/in:ro']);
    expect(compose.volumes).toEqual({ index: {}, search: {}, files: {}, 'files-0': {} });
    expect(composeViolations(compose)).toEqual([]);
  });

  it('configures the gateway with them', () => {
    const { gateway, deployments, warnings } = parseFlow(find('ConfigMap', 'gateway')!.data['flow.yml']!);
    expect(warnings).toEqual([]);
    expect(gateway).toMatchObject({
      monitoring: true,
      portMonitoring: 9100,
      traces: { host: 'collector', port: 4317 },
      httpServer: { keepAliveMs: 5000 },
    });
    expect(deployments[0]!.grpcChannelOptions).toEqual({ 'grpc.keepalive_time_ms': 9 });
  });

  it('says what differs in containers', () => {
    expect(exportWarnings(flow)).toEqual([
      'index and search use the collection documents, but run in containers that share no data: set LECTERN_DATABASE_URL in each, or run them with `lectern flow` in one program, and list it as an external executor',
      'the replicas of index have a volume each and share no data, unless their collections are in PostgreSQL (LECTERN_DATABASE_URL)',
      'reload has no effect in containers: apply the manifests again',
    ]);
    expect(exportWarnings(definition)).toEqual([]);
    const wrong = parseFlow('jtype: Flow\nexecutors: [{ uses: A, volumes: [data] }]');
    expect(() => files('compose', wrong)).toThrow(
      'volumes of executor0: expected "/path", "source:/path" or "source:/path:ro", not "data"',
    );
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
