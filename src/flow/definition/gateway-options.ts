/** Reads the options of the gateway (docs/reference/wire/flow.md, Gateway options). */

import { isObject } from '../values.ts';
import type { ExposedEndpoint, GatewayOptions, Protocol } from './definition.ts';
import { readOperation } from './operation-options.ts';
import {
  checkKeys,
  createOptionReader,
  invalidOption,
  type OptionReader,
  type OptionReport,
  type Options,
} from './options.ts';
import { readGrpcOptions, readHttpServerOptions } from './server-options.ts';

/** A flow is open to other machines only if its options say so. */
const LOOPBACK_HOST = '127.0.0.1';

const PROTOCOLS: readonly Protocol[] = ['GRPC', 'HTTP', 'WEBSOCKET'];

function readProtocols(reader: OptionReader): Protocol[] {
  const names = reader.strings('protocol') ?? (reader.flag('restful') ? ['HTTP'] : ['GRPC']);
  const protocols = names.map((name) => {
    const found = PROTOCOLS.find((one) => one === name.toUpperCase());
    if (!found) throw invalidOption(reader.pathOf('protocol'), `expected ${PROTOCOLS.join(', ')} or a list of them`);
    return found;
  });
  if (new Set(protocols).size < protocols.length)
    throw invalidOption(reader.pathOf('protocol'), 'a protocol is listed twice');
  return protocols;
}

function readPorts(reader: OptionReader, count: number): number[] {
  const ports = (reader.list('port') ?? []).map((value) => {
    const port = Number(value);
    if (!Number.isInteger(port) || port < 0 || port > 65_535)
      throw invalidOption(reader.pathOf('port'), 'expected a port from 0 to 65535');
    return port;
  });
  if (ports.length > count) throw invalidOption(reader.pathOf('port'), `${ports.length} ports for ${count} protocols`);
  return [...ports, ...new Array<number>(count - ports.length).fill(0)];
}

const ENDPOINT_KEYS = ['http_path', 'methods', 'summary', 'description', 'tags'];

function readExposedEndpoint(endpoint: string, value: unknown, where: string, report: OptionReport): ExposedEndpoint {
  if (value !== null && value !== undefined && !isObject(value))
    throw invalidOption(where, 'expected a mapping of options');
  checkKeys(value ?? {}, ENDPOINT_KEYS, { path: where, owner: `the endpoint ${endpoint}` }, report);
  const reader = createOptionReader((value ?? {}) as Options, where);
  return {
    httpPath: reader.string('http_path') ?? endpoint,
    methods: (reader.strings('methods') ?? ['POST']).map((method) => method.toUpperCase()),
    summary: reader.string('summary'),
    description: reader.string('description'),
    tags: reader.strings('tags') ?? ['Customized'],
  };
}

/** Throws a ParamValidationError that names the invalid option. */
export function readGateway(reader: OptionReader, report: OptionReport): GatewayOptions {
  const protocols = readProtocols(reader);
  const [sslCertfile, sslKeyfile] = [reader.string('ssl_certfile'), reader.string('ssl_keyfile')];
  if ((sslCertfile === undefined) !== (sslKeyfile === undefined)) {
    throw invalidOption(reader.pathOf('ssl_certfile'), 'set ssl_certfile and ssl_keyfile together or not at all');
  }
  const endpoints = reader.record('expose_endpoints') ?? {};
  return {
    protocols,
    ports: readPorts(reader, protocols.length),
    host: reader.string('host') ?? LOOPBACK_HOST,
    title: reader.string('title'),
    description: reader.string('description'),
    cors: reader.flag('cors') ?? false,
    debugEndpoints: !reader.flag('no_debug_endpoints'),
    crudEndpoints: !reader.flag('no_crud_endpoints'),
    exposeEndpoints: Object.fromEntries(
      Object.entries(endpoints).map(([endpoint, value]) => [
        endpoint,
        readExposedEndpoint(endpoint, value, `${reader.pathOf('expose_endpoints')}.${endpoint}`, report),
      ]),
    ),
    prefetch: reader.integer('prefetch') ?? 1000,
    restApiVersion: reader.choice('rest_api_version', ['1', '2', '3']) ?? '3',
    sslCertfile,
    sslKeyfile,
    failuresAre500: reader.flag('failures_are_500') ?? false,
    token: reader.string('token'),
    maxBodyBytes: reader.integer('max_body_bytes', 1),
    requestTimeoutMs: reader.integer('request_timeout', 1),
    ...readOperation(reader),
    httpServer: readHttpServerOptions(reader, report),
    grpcServerOptions: readGrpcOptions(reader, 'grpc_server_options', report),
  };
}
