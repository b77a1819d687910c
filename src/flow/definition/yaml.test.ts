// biome-ignore-all lint/suspicious/noTemplateCurlyInString: so the variables of flow files are written.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { defineFlow } from './define-flow.ts';
import { loadFlow, parseFlow } from './yaml.ts';

const base = mkdtempSync(path.join(os.tmpdir(), 'flow-yaml-'));
afterAll(() => rmSync(base, { recursive: true, force: true }));

const ofExecutor = (lines: string, options = {}) =>
  parseFlow(`jtype: Flow\nexecutors:\n  - ${lines}\n`, options).deployments[0]!;
const ofGateway = (lines: string) => parseFlow(`jtype: Flow\nwith:\n  ${lines}\n`).gateway;

describe('a flow in a file', () => {
  it('equals the same flow in code', () => {
    const text = `
jtype: Flow
version: '1'
with:
  protocol: http
  port: 8080
  cors: true
  timeout_send: 2000
  env: { A: '1' }
executors:
  - name: first
    uses: Mark
    uses_with: { mark: x }
    replicas: 2
  - name: second
    needs: gateway
    uses: { jtype: Tell, with: { a: 1, b: 1 }, metas: { name: told }, requests: { /a: tell } }
    uses_with: { b: 2 }
    env: { B: '2' }
    when: { tags__x: { $eq: 1 } }
  - name: third
    shards: 2
    polling: { /a: all }
    uses_after: Tell
    needs: [first, second]
`;
    const code = defineFlow({ protocol: 'http', port: 8080, cors: true, timeoutSend: 2000, env: { A: '1' } })
      .add({ name: 'first', uses: 'Mark', usesWith: { mark: 'x' }, replicas: 2 })
      .add({
        name: 'second',
        needs: 'gateway',
        uses: { jtype: 'Tell', with: { a: 1, b: 1 }, metas: { name: 'told' }, requests: { '/a': 'tell' } },
        usesWith: { b: 2 },
        env: { B: '2' },
        when: { tags__x: { $eq: 1 } },
      })
      .needs(['first', 'second'], { name: 'third', shards: 2, polling: { '/a': 'all' }, usesAfter: 'Tell' });
    const definition = parseFlow(text);
    expect(definition).toEqual(code.definition());
    expect(definition.warnings).toEqual([]);
    expect(definition.deployments[1]).toMatchObject({
      needs: ['start-gateway'],
      source: { uses: 'Tell', options: { a: 1, b: 2 }, metas: { name: 'told' }, requests: { '/a': 'tell' } },
      env: { A: '1', B: '2' },
      timeoutSendMs: 2000,
    });
    expect(definition.deployments[2]).toMatchObject({
      needs: ['first', 'second'],
      polling: { '/a': 'ALL' },
      shards: 2,
    });
    expect(parseFlow(JSON.stringify({ jtype: 'Flow', executors: [{ name: 'a' }] })).deployments[0]!.name).toBe('a');
  });

  it('accepts a YAML tag as type and older names of the executor list', () => {
    const tagged = parseFlow('!Flow\npods:\n  - name: a\n    uses: !Mark\n      with: { mark: 1 }\n');
    expect(tagged.deployments[0]!.source).toMatchObject({ uses: 'Mark', options: { mark: 1 } });
    expect(parseFlow('jtype: Flow\ndeployments: [{ name: b }]').deployments[0]!.name).toBe('b');
    expect(parseFlow('jtype: Flow\nexecutors: [Mark]').deployments[0]!.source.uses).toBe('Mark');
    expect(() => parseFlow('jtype: Deployment')).toThrow('expected Flow, not Deployment');
  });

  it('reads `on` as a key, ignores an entry named gateway and reads a gateway section', () => {
    const definition = parseFlow(
      'jtype: Flow\ngateway: { port: 1, protocol: websocket }\nexecutors:\n  - name: gateway\n  - { name: a, uses: { jtype: X, with: { on: off } } }',
    );
    expect(definition.deployments.map(({ name }) => name)).toEqual(['a']);
    expect(definition.deployments[0]!.source.options).toEqual({ on: 'off' });
    expect(definition.gateway).toMatchObject({ protocols: ['WEBSOCKET'], ports: [1] });
  });

  it.each([
    ['executors: [{ name: a, replica: 2 }]', 'unknown option `replica` of executor `a`: did you mean `replicas`?'],
    ['executors: [{ name: a, shard: 2 }]', 'did you mean `shards`?'],
    [
      'executors: [{ needs: gateway, usesWith: {} }, { use_with: {} }]',
      'of executor `executor1`: did you mean `uses_with`?',
    ],
    [
      'executors: [{ name: a, colour: 2 }]',
      'unknown option `colour` of executor `a`: remove it, or load the file as lenient',
    ],
    ['with: { prot: 1 }', 'with: unknown option `prot` of the flow: did you mean `port`?'],
    ['with: { protcool: http }', 'did you mean `protocol`?'],
    ['gateway: { no_debug_endpoint: true }', 'did you mean `no_debug_endpoints`?'],
    ['executor: []', 'flow: unknown option `executor` of the flow: did you mean `executors`?'],
    [
      'executors: [{ name: a, uses: { jtype: A, wiht: {} } }]',
      'of the configuration of executor `a`: did you mean `with`?',
    ],
    ['with: { expose_endpoints: { /a: { method: [GET] } } }', 'of the endpoint /a: did you mean `methods`?'],
    [
      'executors: [{ uses_dynamic_batching: { /a: { prefered_batch_size: 1 } } }]',
      'of the batches of /a: did you mean `preferred_batch_size`?',
    ],
    ['executors: [{ name: a }, { name: a }]', 'executors[1].name: there are two executors `a`'],
  ])('refuses the mistake in %s, unless it is lenient', (lines, message) => {
    const text = `jtype: Flow\n${lines}`;
    expect(() => parseFlow(text)).toThrow(
      expect.objectContaining({ name: 'ParamValidationError', message: expect.stringContaining(message) }),
    );
    const isMissing = lines.includes('prefered');
    if (!isMissing) expect(parseFlow(text, { lenient: true }).warnings).toHaveLength(1);
  });

  it('warns about unknown options and renames executors when it is lenient', () => {
    const { warnings, deployments } = parseFlow(
      'jtype: Flow\nodd: 1\nwith: { foo: 1 }\nexecutors: [{ name: a, bar: 2 }, { name: a }]',
      { lenient: true },
    );
    expect(warnings).toEqual([
      'flow: unknown option `odd` of the flow ignored',
      'with: unknown option `foo` of the flow ignored',
      'executors[0]: unknown option `bar` of executor `a` ignored',
      'executors[1].name: there are two executors `a`; this one is called a1',
    ]);
    expect(deployments.map(({ name }) => name)).toEqual(['a', 'a1']);
  });

  it('warns about known options without an effect', () => {
    const { warnings, deployments } = parseFlow(
      'jtype: Flow\nwith: { expose_graphql_endpoint: true, uses: MyGateway, timeout_ctrl: 60 }\nexecutors: [{ name: a, docker_kwargs: {}, gpus: all }, { external: true, port: 1, uses: B, py_modules: b.py }]',
    );
    expect(warnings).toEqual([
      'with: the option expose_graphql_endpoint has no effect: GraphQL is not supported',
      'with: the option uses has no effect: gateways of your own are not supported',
      'with: the option timeout_ctrl has no effect',
      'executors[0]: the option docker_kwargs has no effect: containers are not started',
      'executors[1].external: uses, py_modules of an external executor have no effect here',
    ]);
    expect(deployments[0]!.rest).toEqual({ gpus: 'all' });
  });

  it.each([
    ['jtype: [', 'not valid YAML'],
    ['- a', 'expected a mapping'],
    ['jtype: Flow\nexecutors: {}', 'a list'],
    ['jtype: Flow\nexecutors: [1]', 'a mapping'],
    ['jtype: Flow\nwith: 1', 'a mapping'],
    ['jtype: Flow\nexecutors: [{ name: a-b }]', 'not a valid name'],
    ['jtype: Flow\nexecutors: [{ name: 1a }]', 'not a valid name'],
    ['jtype: Flow\nexecutors: [{ name: a, needs: a }]', 'FlowTopologyError'],
    ['jtype: Flow\nexecutors: [{ name: a, needs: b }, { name: b }]', 'not defined before it'],
    ['jtype: Flow\nexecutors: [{ name: a, method: needs, needs: gateway }]', 'two names'],
    ['jtype: Flow\nexecutors: [{ name: a, method: fly }]', 'fly'],
    ['jtype: Flow\nexecutors: [{ uses: "docker://image" }]', 'containers'],
    [
      'jtype: Flow\nexecutors: [{ uses: A, py_modules: [a.js, part/b.py] }]',
      'executors[0].py_modules: part/b.py: Python executors do not run here: serve it with its own framework, and list it here with `external: true`, its `host` and its `port`',
    ],
    [
      'jtype: Flow\nexecutors: [{ uses: executor.py }]',
      'executors[0].uses: executor.py: Python executors do not run here',
    ],
    ['jtype: Flow\nexecutors: [{ uses: { jtype: A, metas: { py_modules: a.py } } }]', 'a.py: Python executors'],
    ['jtype: Flow\nwith: { grpc_server_options: { grpc.keepalive_time_ms: [1] } }', 'expected a number'],
    [
      'jtype: Flow\nwith: { uvicorn_kwargs: { backlog: many } }',
      'with.uvicorn_kwargs.backlog: expected a positive number',
    ],
    ['jtype: Flow\nwith: { port_monitoring: 70000 }', 'with.port_monitoring: expected a port'],
    ['jtype: Flow\nexecutors: [{ uses: missing.yml }]', 'missing.yml cannot be read'],
    ['jtype: Flow\nexecutors: [{ replicas: 0 }]', 'executors[0].replicas'],
    ['jtype: Flow\nexecutors: [{ replicas: many }]', 'executors[0].replicas'],
    ['jtype: Flow\nexecutors: [{ polling: SOME }]', 'ANY or ALL'],
    ['jtype: Flow\nexecutors: [{ own_process: perhaps }]', 'executors[0].own_process: expected true or false'],
    [
      'jtype: Flow\nwith: { max_memory_bytes: 1000 }\nexecutors: [{}]',
      'max_memory_bytes: expected a whole number of at least 134217728',
    ],
    ['jtype: Flow\nexecutors: [{ when: { text: { $ne: 1 } } }]', '$ne'],
    ['jtype: Flow\nexecutors: [{ external: true }]', 'needs a port'],
    ['jtype: Flow\nexecutors: [{ external: true, host: [a, b], port: [1, 2, 3] }]', '2 hosts do not match 3 ports'],
    [
      'jtype: Flow\nexecutors: [{ name: a, needs: gateway }, { name: b, needs: gateway }, { needs: [a, b], external: true, port: 1, no_reduce: true }]',
      'needs its inputs reduced',
    ],
    ['jtype: Flow\nexecutors: [{ uses_dynamic_batching: { /a: {} } }]', 'preferred_batch_size'],
    ['jtype: Flow\nwith: { protocol: carrier }', 'GRPC'],
    ['jtype: Flow\nwith: { protocol: [http, HTTP] }', 'twice'],
    ['jtype: Flow\nwith: { port: 99999 }', '65535'],
    ['jtype: Flow\nwith: { port: [1, 2] }', '2 ports for 1'],
    ['jtype: Flow\nwith: { ssl_certfile: a }', 'together'],
    ['jtype: Flow\nwith: { cors: maybe }', 'true or false'],
    ['jtype: Flow\nwith: { expose_endpoints: "{" }', 'not valid JSON'],
    ['jtype: Flow\nwith: { rest_api_version: 4 }', '1, 2, 3'],
    ['jtype: Flow\nwith: { compression: Brotli }', 'Gzip'],
  ])('%s is refused', (text, message) => {
    expect(() => parseFlow(text.includes('Brotli') ? `${text}\nexecutors: [{}]` : text)).toThrow(
      expect.objectContaining({ name: 'ParamValidationError', message: expect.stringContaining(message) }),
    );
  });

  it('limits alias expansion', () => {
    const lines = ['a: &a [x, x, x, x, x, x, x, x, x, x]'];
    for (const [from, to] of ['ab', 'bc', 'cd', 'de', 'ef', 'fg'])
      lines.push(`${to}: &${to} [${Array(10).fill(`*${from}`)}]`);
    expect(() => parseFlow(`jtype: Flow\nwith:\n  ${lines.join('\n  ')}`)).toThrow(/alias/i);
  });
});

describe('topology', () => {
  it('generates missing names', () => {
    const names = defineFlow().add().add({ name: 'a' }).add().definition();
    expect(names.deployments.map(({ name }) => name)).toEqual(['executor0', 'a', 'executor2']);
  });

  it('joins all open branches and adds side branches', () => {
    const { deployments } = defineFlow()
      .add({ name: 'a' })
      .inspect({ name: 'look' })
      .add({ name: 'b' })
      .add({ name: 'c', needs: 'a' })
      .needsAll({ name: 'all' })
      .definition();
    expect(deployments.map(({ name, needs, floating }) => [name, needs, floating])).toEqual([
      ['a', ['start-gateway'], false],
      ['look', ['a'], true],
      ['b', ['a'], false],
      ['c', ['a'], false],
      ['all', ['b', 'c'], false],
    ]);
    expect(defineFlow({ inspect: 'REMOVE' }).inspect().definition().deployments).toEqual([]);
  });
});

describe('options of an executor', () => {
  it('have their defaults', () => {
    expect(ofExecutor('{}')).toMatchObject({
      name: 'executor0',
      source: { uses: 'BaseExecutor', modules: [] },
      replicas: 1,
      shards: 1,
      floating: false,
      reduce: true,
      timeoutReadyMs: 600_000,
      timeoutSendMs: undefined,
      retries: -1,
      retryTimeouts: false,
      exitOnExceptions: [],
      ownProcess: undefined,
      maxMemoryBytes: 2 ** 31,
      compression: 'none',
    });
  });

  it.each<[string, object]>([
    ['{ uses: _pass }', { source: { uses: '_pass' } }],
    [
      '{ timeout_ready: -1, timeout_send: -1, retries: 0 }',
      { timeoutReadyMs: -1, timeoutSendMs: undefined, retries: 0 },
    ],
    ['{ disable_reduce: true }', { reduce: false }],
    ['{ no_reduce: true }', { reduce: false }],
    ['{ override_with: { a: 1 } }', { source: { options: { a: 1 } } }],
    [
      '{ override_metas: { a: 1 }, override_requests: { /a: b } }',
      { source: { metas: { a: 1 }, requests: { '/a': 'b' } } },
    ],
    ['{ parallel: 3 }', { replicas: 3, shards: 1 }],
    ['{ parallel: 3, polling: all }', { replicas: 1, shards: 3 }],
    ['{ polling: all }', { polling: { '*': 'ALL', '/search': 'ALL', '/index': 'ALL' } }],
    ['{ compression: Gzip }', { compression: 'gzip' }],
    ['{ output_array_type: numpy }', { outputArrayType: 'numpy' }],
    ['{ exit_on_exceptions: [A, B] }', { exitOnExceptions: ['A', 'B'] }],
    ['{ own_process: false }', { ownProcess: false }],
    ['{ max_memory_bytes: 500000000 }', { maxMemoryBytes: 500_000_000 }],
    ['{ max_memory_bytes: 0 }', { maxMemoryBytes: 0 }],
    ['{ port: 5 }', { port: 5, external: undefined }],
    ['{ shards: 2, uses_before: A, uses_after: B }', { before: { uses: 'A' }, after: { uses: 'B' } }],
    ['{ uses_before: A }', { before: undefined }],
    [
      '{ uses_dynamic_batching: { /a: { preferred_batch_size: 4, timeout: 50 } } }',
      { source: { batching: { '/a': { preferredBatchSize: 4, timeoutMs: 50 } } } },
    ],
    ['{ external: true, host: h, port: 1 }', { external: [{ host: 'h', port: 1 }], replicas: 1, tls: false }],
    ['{ external: true, host: "grpcs://h:9/" }', { external: [{ host: 'h', port: 9 }], tls: true }],
    ['{ external: true, host: h, port: 1, https: true }', { tls: true }],
    [
      '{ external: true, host: [a, b], port: 1 }',
      {
        external: [
          { host: 'a', port: 1 },
          { host: 'b', port: 1 },
        ],
        replicas: 2,
      },
    ],
    [
      '{ external: true, port: [1, 2] }',
      {
        external: [
          { host: 'localhost', port: 1 },
          { host: 'localhost', port: 2 },
        ],
      },
    ],
    [
      '{ external: true, host: "a,b", port: "1,2" }',
      {
        external: [
          { host: 'a', port: 1 },
          { host: 'b', port: 2 },
        ],
      },
    ],
    ['{ external: true, host: "[::1]:7" }', { external: [{ host: '[::1]', port: 7 }] }],
    ['{ grpc_metadata: { a: 1 } }', { grpcMetadata: { a: '1' } }],
    [
      '{ grpc_channel_options: { grpc.keepalive_time_ms: 9, grpc.enable_http_proxy: true } }',
      { grpcChannelOptions: { 'grpc.keepalive_time_ms': 9, 'grpc.enable_http_proxy': 1 } },
    ],
    ['{ monitoring: true, port_monitoring: 9 }', { monitoring: true, portMonitoring: 9 }],
    ['{ tracing: true }', { traces: { host: 'localhost', port: 4317 }, metrics: undefined }],
    [
      '{ tracing: false, metrics: true, metrics_exporter_host: "http://there", metrics_exporter_port: 5 }',
      { traces: undefined, metrics: { host: 'there', port: 5 } },
    ],
    ['{ reload: true }', { reload: true }],
  ])('%s', (lines, expected) => {
    expect(ofExecutor(lines)).toMatchObject(expected);
  });

  it('are read from an executor file, relative to it, and overridden by the flow', () => {
    writeFileSync(
      path.join(base, 'mine.yml'),
      'jtype: Mine\nwith: { a: 1, b: 1 }\npy_modules: [mine.ts]\nmetas: { name: m, py_modules: more.ts }\ndynamic_batching: { /a: { preferred_batch_size: 2 } }\n',
    );
    const { source } = ofExecutor('{ uses: mine.yml, uses_with: { b: 2 }, modules: extra.ts }', { baseDir: base });
    expect(source).toMatchObject({
      uses: 'Mine',
      options: { a: 1, b: 2 },
      modules: ['mine.ts', 'more.ts', 'extra.ts'].map((file) => path.join(base, file)),
      batching: { '/a': { preferredBatchSize: 2 } },
    });
  });

  it('are inherited from the flow, except its port', () => {
    const definition = parseFlow(
      'jtype: Flow\nwith: { workspace: w, retries: 7, port: 9, timeout_ready: 5, port_monitoring: 3 }\nexecutors: [{}, { retries: 1, workspace: v }]',
      { baseDir: base },
    );
    expect(definition.deployments[0]).toMatchObject({
      workspace: path.join(base, 'w'),
      retries: 7,
      port: undefined,
      timeoutReadyMs: 5,
    });
    expect(definition.deployments[1]).toMatchObject({ workspace: path.join(base, 'v'), retries: 1 });
    expect(definition.deployments[0]!.rest).toEqual({});
  });
});

describe('options of the gateway', () => {
  it('have their defaults', () => {
    expect(parseFlow('jtype: Flow').gateway).toMatchObject({
      protocols: ['GRPC'],
      ports: [0],
      host: '127.0.0.1',
      cors: false,
      debugEndpoints: true,
      crudEndpoints: true,
      exposeEndpoints: {},
      prefetch: 1000,
      restApiVersion: '3',
      failuresAre500: false,
    });
  });

  it.each<[string, object]>([
    ['restful: true', { protocols: ['HTTP'] }],
    ['rest_api: true', { protocols: ['HTTP'] }],
    ['port_expose: 45678', { ports: [45678] }],
    ['{ protocol: WebSocket, restful: true }', { protocols: ['WEBSOCKET'] }],
    ['{ protocol: [http, GRPC], port: [1] }', { protocols: ['HTTP', 'GRPC'], ports: [1, 0] }],
    ['{ protocols: [http, websocket], ports: [1, 2] }', { protocols: ['HTTP', 'WEBSOCKET'], ports: [1, 2] }],
    ['{ no_debug_endpoints: true, no_crud_endpoints: true }', { debugEndpoints: false, crudEndpoints: false }],
    [
      '{ title: t, description: d, prefetch: 0, rest_api_version: 2 }',
      { title: 't', description: 'd', prefetch: 0, restApiVersion: '2' },
    ],
    [
      'expose_endpoints: { /foo: { http_path: /my/foo, methods: [post, PUT], summary: s }, /bar: }',
      {
        exposeEndpoints: {
          '/foo': { httpPath: '/my/foo', methods: ['POST', 'PUT'], summary: 's', tags: ['Customized'] },
          '/bar': { httpPath: '/bar', methods: ['POST'] },
        },
      },
    ],
    ['expose_endpoints: \'{"/foo": {"methods": ["GET"]}}\'', { exposeEndpoints: { '/foo': { methods: ['GET'] } } }],
    ['{ ssl_certfile: a, ssl_keyfile: b }', { sslCertfile: 'a', sslKeyfile: 'b' }],
    [
      'uvicorn_kwargs: { timeout_keep_alive: 5, backlog: 9, ws_max_size: 100, ws_ping_interval: 0.5 }',
      { httpServer: { keepAliveMs: 5000, backlog: 9, maxMessageBytes: 100, pingMs: 500 } },
    ],
    [
      'grpc_server_options: { grpc.max_receive_message_length: -1 }',
      { grpcServerOptions: { 'grpc.max_receive_message_length': -1 } },
    ],
    [
      '{ failures_are_500: true, token: t, max_body_bytes: 10 }',
      { failuresAre500: true, token: 't', maxBodyBytes: 10 },
    ],
  ])('%s', (lines, expected) => {
    expect(ofGateway(lines)).toMatchObject(expected);
  });

  it('name what the libraries here do not have', () => {
    const { warnings, gateway } = parseFlow(
      'jtype: Flow\nwith: { uvicorn_kwargs: { workers: 2 }, grpc_server_options: { grpc.so_reuseport: 1 }, grpc_channel_options: { grpc.x: 1 } }\nexecutors: [{}]',
    );
    expect(warnings).toEqual([
      'with.uvicorn_kwargs.workers: the argument workers has no effect',
      'with.grpc_server_options.grpc.so_reuseport: the gRPC option grpc.so_reuseport has no effect',
      'executors[0].grpc_channel_options.grpc.x: the gRPC option grpc.x has no effect',
    ]);
    expect(gateway).toMatchObject({ httpServer: {}, grpcServerOptions: {} });
  });

  it('are overridden by options of the loader', () => {
    expect(parseFlow('jtype: Flow\nwith: { port: 1, cors: true }', { with: { port: 2 } }).gateway).toMatchObject({
      ports: [2],
      cors: true,
    });
  });
});

describe('variables', () => {
  const optionsOf = (value: string, load = {}) => ofExecutor(`{ uses_with: { v: ${value} } }`, load).source.options.v;
  const env = { N: '3', F: '1.5', T: 'true', L: '[1, two]', Q: '"5"', S: 'text', E: '' };

  it.each<[string, unknown]>([
    ["'${{ ENV.N }}'", 3],
    ["'${{ env.N }}'", 3],
    ["'${{ ENV.F }}'", 1.5],
    ["'${{ ENV.T }}'", true],
    ["'${{ ENV.L }}'", [1, 'two']],
    ["'${{ ENV.Q }}'", '5'],
    ["'${{ ENV.S }}'", 'text'],
    ["'${{ ENV.E }}'", null],
    ["'a ${{ ENV.S }} b ${{ ENV.N }}'", 'a text b 3'],
    ["'${{ ENV.ABSENT:-7 }}'", 7],
    ["'${{ CONTEXT.c }}'", 'given'],
    ["'${{ context.c }}'", 'given'],
    ["'${{ c }}'", 'given'],
    ["'${{ CONTEXT.absent }}'", '${{ CONTEXT.absent }}'],
    ["'$N'", 3],
    ["'$ABSENT'", '$ABSENT'],
    ["'3'", '3'],
    ["'true'", 'true'],
  ])('%s is %j', (value, expected) => {
    expect(optionsOf(value, { env, context: { c: 'given' } })).toEqual(expected);
  });

  it('fail by name when not set', () => {
    expect(() => optionsOf("'${{ ENV.ABSENT }}'")).toThrow('the environment variable ABSENT is not set');
  });

  it('warn about the old syntax', () => {
    expect(parseFlow('jtype: Flow\nexecutors: [{ uses_with: { v: $N } }]', { env }).warnings).toEqual([
      'executors[0].uses_with.v: write ${{ ENV.N }} instead of $N',
    ]);
  });

  it('resolve references to other values, three levels deep', () => {
    const { deployments } = parseFlow(`
jtype: Flow
with: { workspace: /w }
executors:
  - name: a
    uses_with: { x: '\${{this.y}}', y: '\${{root.executors[1].uses_with.z}}', path: '\${{root.with.workspace}}/in', list: '\${{this.items}}', items: [1] }
  - name: b
    uses_with: { z: 5, missing: '\${{this.nothing}}', name: '\${{root.executors[0].name}}' }
`);
    expect(deployments[0]!.source.options).toEqual({ x: 5, y: 5, path: '/w/in', list: [1], items: [1] });
    expect(deployments[1]!.source.options).toEqual({ z: 5, missing: '${{this.nothing}}', name: 'a' });
  });
});

describe('loadFlow', () => {
  it('accepts a file name or the text itself', () => {
    const file = path.join(base, 'flow.yml');
    writeFileSync(file, 'jtype: Flow\nexecutors:\n  - { modules: [x.ts] }\n');
    expect(loadFlow(file).deployments[0]!.source.modules).toEqual([path.join(base, 'x.ts')]);
    expect(loadFlow('flow.yml', { baseDir: base }).deployments).toHaveLength(1);
    expect(loadFlow('jtype: Flow\nexecutors: []').deployments).toEqual([]);
    expect(loadFlow('{"jtype": "Flow"}').deployments).toEqual([]);
    expect(() => loadFlow(path.join(base, 'absent.yml'))).toThrow('cannot be read: there is no such file');
  });
});
