/** The HTTP routes of a gateway, built from its options. The OpenAPI description is generated from the same table. */
import type { IncomingMessage } from 'node:http';
import { asProblem, problem } from '#errors.ts';
import type { GatewayOptions, Protocol } from '../definition/definition.ts';
import type { Flow } from '../flow.ts';
import { BODY, invalidAt, requestJson, statusObject } from '../json/index.ts';
import {
  createRequest,
  type DataRequest,
  ERROR,
  type Route as FlowRoute,
  failed,
  type Status,
  timestamp,
} from '../request.ts';
import { isUnavailableProblem } from '../runtime/unavailable.ts';
import { isObject } from '../values.ts';
import { type Answer, failureAnswer, notFound, ok, type RequestFacts } from './answer.ts';
import { HEALTH_TAGS, healthRoutes } from './health-routes.ts';
import { formatUuid, V1_KINDS, type V1Kind, v1Answer, v1ControlAnswer } from './rest-v1.ts';
import { type BodyContext, REST_FORMATS, REST_V1, REST_V3, type ReadBody, type RestFormat } from './rest-versions.ts';
import { DRAINING } from './running-requests.ts';
import { handleInParts } from './split-request.ts';
import { writeStatusReport } from './status-report.ts';

/** A request as a route receives it. */
export interface Exchange {
  readonly request: IncomingMessage;
  /** 32 hexadecimal digits. The same id is in the response's header, its body and the log. */
  readonly requestId: string;
  /** Aborted when the client disconnects or the request times out. */
  readonly signal: AbortSignal;
  /** The value of `{mode}` in `/api/{mode}`. */
  readonly name: string;
  /** Reads the body as JSON. Rejects with a Problem whose `facts.detail` is a list of issues. */
  json(): Promise<unknown>;
}

/** Schema names in the OpenAPI description. */
export type RequestSchema = 'DataRequest' | 'EndpointRequest' | 'ReloadRequest' | 'OldRequest' | 'ModeRequest';
export type ResponseSchema =
  | 'DataResponse'
  | 'DocumentsResponse'
  | 'MessageResponse'
  | 'OldResponse'
  | 'Status'
  | 'StatusReport'
  | 'Health'
  | 'Empty';

export interface Route {
  readonly method: string;
  readonly path: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string | undefined;
  readonly requestSchema?: RequestSchema;
  readonly responseSchema: ResponseSchema;
  readonly deprecated?: boolean;
  /** Whether the route needs no token. */
  readonly isPublic?: boolean;
  run(exchange: Exchange): Answer | Promise<Answer>;
}

export interface RouteTools {
  readonly flow: Flow;
  readonly options: GatewayOptions;
  readonly protocol: Protocol;
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Whether the gateway refuses requests because it is shutting down. */
  readonly isDraining: () => boolean;
}

const DRAINING_STATUS: Status = { code: ERROR, description: DRAINING };
const DEBUG = ['Debug'];
const CRUD = ['CRUD'];

export function gatewayRoutes(tools: RouteTools): Route[] {
  const { options, protocol } = tools;
  const isHttp = protocol === 'HTTP';
  return [
    ...healthRoutes(tools),
    ...rootRoutes(tools),
    ...(options.debugEndpoints ? debugRoutes(tools, isHttp) : []),
    ...(options.crudEndpoints && isHttp ? crudRoutes(tools) : []),
    ...(isHttp ? customRoutes(tools) : []),
  ];
}

/** The routes at `/`. Generation 1 has none. */
function rootRoutes({ options, version, environment }: RouteTools): Route[] {
  const root = { method: 'GET', path: '/', tags: HEALTH_TAGS, isPublic: true } as const;
  switch (options.restApiVersion) {
    case '1':
      return [];
    case '2':
      return [
        {
          ...root,
          isPublic: false,
          summary: 'Versions and environment',
          responseSchema: 'StatusReport',
          run: () => ok(writeStatusReport({ version, environment, form: '2' })),
        },
      ];
    case '3':
      return [{ ...root, summary: 'Whether the gateway responds', responseSchema: 'Empty', run: () => ok('{}') }];
  }
}

function debugRoutes(tools: RouteTools, isHttp: boolean): Route[] {
  const { flow, options, version, environment, isDraining } = tools;
  const dryRun: Route = {
    method: 'GET',
    path: '/dry_run',
    tags: DEBUG,
    summary: 'Whether all executors of the flow respond',
    responseSchema: 'Status',
    run: async ({ signal }) =>
      ok(JSON.stringify(statusObject(isDraining() ? DRAINING_STATUS : await flow.dryRun(signal)))),
  };
  const status: Route = {
    method: 'GET',
    path: '/status',
    tags: DEBUG,
    summary: 'Versions and environment',
    responseSchema: 'StatusReport',
    run: () => ok(writeStatusReport({ version, environment, form: options.restApiVersion })),
  };
  if (!isHttp) return [dryRun, status];
  return [
    dryRun,
    status,
    {
      method: 'POST',
      path: '/post',
      tags: DEBUG,
      summary: 'Send documents to any endpoint of the flow',
      requestSchema: 'EndpointRequest',
      responseSchema: options.restApiVersion === '2' ? 'MessageResponse' : 'DataResponse',
      run: createDataHandler(
        tools,
        options.restApiVersion === '1' ? REST_V3 : REST_FORMATS[options.restApiVersion],
        {},
      ),
    },
    reloadRoute(tools),
  ];
}

const CRUD_ROUTES = [
  ['POST', 'index', 'Index documents'],
  ['POST', 'search', 'Search with documents'],
  ['PUT', 'update', 'Update documents'],
  ['DELETE', 'delete', 'Delete documents'],
] as const;

const CRUD_RESPONSES = { 1: 'OldResponse', 2: 'DocumentsResponse', 3: 'DataResponse' } as const;

function crudRoutes(tools: RouteTools): Route[] {
  const format = REST_FORMATS[tools.options.restApiVersion];
  const isOld = format === REST_V1;
  const routes = CRUD_ROUTES.map(
    ([method, kind, summary]): Route => ({
      method,
      path: `/${kind}`,
      tags: CRUD,
      summary,
      requestSchema: isOld ? 'OldRequest' : 'DataRequest',
      responseSchema: CRUD_RESPONSES[tools.options.restApiVersion],
      run: createDataHandler(tools, format, { endpoint: `/${kind}`, kind }),
    }),
  );
  return [...routes, modeRoute(tools)];
}

function customRoutes(tools: RouteTools): Route[] {
  const { exposeEndpoints, restApiVersion } = tools.options;
  const format = restApiVersion === '1' ? REST_V3 : REST_FORMATS[restApiVersion];
  return Object.entries(exposeEndpoints).flatMap(([endpoint, { httpPath, methods, summary, description, tags }]) =>
    methods.map(
      (method): Route => ({
        method: method.toUpperCase(),
        path: httpPath,
        tags,
        summary: summary ?? `Send documents to ${endpoint}`,
        description,
        requestSchema: 'DataRequest',
        responseSchema: restApiVersion === '2' ? 'DocumentsResponse' : 'DataResponse',
        run: createDataHandler(tools, format, { endpoint }),
      }),
    ),
  );
}

/** Reads a body, sends it through the flow and writes the response in the same format. */
function createDataHandler(tools: RouteTools, format: RestFormat, context: BodyContext): Route['run'] {
  return async (exchange) => {
    const reading = format.read(await exchange.json(), context);
    return runBody(tools, exchange, reading, (answer) => format.write(answer, reading, context));
  };
}

async function runBody(
  { flow, options }: RouteTools,
  { request: { headers }, requestId, signal }: Exchange,
  { request, partSize }: ReadBody,
  write: (answer: DataRequest) => string,
): Promise<Answer> {
  request.header.requestId = requestId;
  const facts: RequestFacts = { requestId, docs: request.docs };
  try {
    const answer = await handleInParts(flow, request, partSize, { signal, headers });
    return { code: options.failuresAre500 && failed(answer) ? 500 : 200, body: write(answer) };
  } catch (error) {
    // Other failures need no documents; the gateway handles and logs them.
    if (!isUnavailableProblem(asProblem(error))) throw error;
    return failureAnswer(error, facts);
  }
}

function readTargets(body: unknown): string[] {
  const targets = isObject(body) ? body.targets : undefined;
  const location = { parent: BODY, key: 'targets' };
  if (targets === undefined || targets === null) throw invalidAt(location, 'missing');
  const list = Array.isArray(targets) ? targets : [targets];
  for (const [at, target] of list.entries()) {
    if (typeof target !== 'string') throw invalidAt({ parent: location, key: at }, 'string');
  }
  return list as string[];
}

function reloadRoute({ flow, options }: RouteTools): Route {
  const isOld = options.restApiVersion === '1';
  return {
    method: 'POST',
    path: '/reload',
    tags: DEBUG,
    summary: 'Reload executors by deployment name',
    requestSchema: 'ReloadRequest',
    responseSchema: isOld ? 'OldResponse' : 'DataResponse',
    async run({ json, requestId }) {
      const body = await json();
      const targets = readTargets(body);
      const { routes, missing } = await reload(flow, targets);
      if (missing) return notFound();
      if (isOld) {
        return ok(
          JSON.stringify(
            v1ControlAnswer({ requestId: formatUuid(requestId), command: 'RELOAD', targets, routes }),
            undefined,
            2,
          ),
        );
      }
      return ok(requestJson({ ...createRequest({ requestId, endpoint: '/reload' }), routes }));
    },
  };
}

/** The gateway's own route comes first. `missing`: no deployment matches. */
async function reload(flow: Flow, targets: readonly string[]): Promise<{ routes: FlowRoute[]; missing: boolean }> {
  const startTime = timestamp();
  const reloaded = await flow.reload(targets);
  const gateway = { executor: 'gateway', startTime, endTime: timestamp() };
  return { routes: [gateway, ...reloaded], missing: reloaded.length === 0 };
}

function modeRoute(tools: RouteTools): Route {
  return {
    method: 'POST',
    path: '/api/{mode}',
    tags: CRUD,
    deprecated: true,
    summary: 'Send documents in the form of REST version 1',
    requestSchema: 'ModeRequest',
    responseSchema: 'OldResponse',
    run: (exchange) => runMode(tools, exchange),
  };
}

/** `/api/{mode}` always responds in the format of REST version 1. */
async function runMode(tools: RouteTools, exchange: Exchange): Promise<Answer> {
  const mode = exchange.name.toLowerCase();
  const kind = V1_KINDS.find((one) => one === mode);
  if (!kind && mode !== 'control') return reasonAnswer(405, `unsupported mode ${exchange.name}`);
  const given = await exchange.json();
  // If the body is only a list or a string, it is the data.
  const body = Array.isArray(given) || typeof given === 'string' ? { data: given } : isObject(given) ? given : {};
  if (!kind) return runV1Control(tools, exchange, body);
  if (body.data === undefined) return reasonAnswer(406, '"data" field is empty');
  return runV1Request(tools, exchange, body, kind);
}

const reasonAnswer = (code: number, text: string): Answer => ({ code, body: JSON.stringify({ reason: text }) });

function runV1Request(
  tools: RouteTools,
  exchange: Exchange,
  body: Record<string, unknown>,
  kind: V1Kind,
): Promise<Answer> {
  const reading = REST_V1.read(body, { endpoint: `/${kind}`, kind });
  // In the original framework, only the routes of the endpoints wrote empty tags.
  const request = { ...reading, objectIds: undefined };
  return runBody(tools, exchange, reading, (answer) => JSON.stringify(v1Answer(answer, request)));
}

async function runV1Control(
  { flow, options }: RouteTools,
  { requestId, signal }: Exchange,
  body: Record<string, unknown>,
): Promise<Answer> {
  const command = String(body.command ?? '').toUpperCase();
  if (!options.debugEndpoints) return notFound();
  if (command === 'STATUS') {
    const startTime = timestamp();
    const status = await flow.dryRun(signal);
    if (status.code === ERROR) throw problem('ServiceAwayError', { message: status.description });
    const routes = [{ executor: 'gateway', startTime, endTime: timestamp() }];
    return ok(JSON.stringify(v1ControlAnswer({ requestId: formatUuid(requestId), command, targets: [], routes })));
  }
  if (command === 'RELOAD') {
    const targets = readTargets(body);
    const { routes, missing } = await reload(flow, targets);
    return missing
      ? notFound()
      : ok(JSON.stringify(v1ControlAnswer({ requestId: formatUuid(requestId), command, targets, routes })));
  }
  return reasonAnswer(406, `unsupported command ${command}`);
}
