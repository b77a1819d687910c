/** Names of services, methods and metadata on the wire (docs/reference/wire/flow.md, gRPC). */

export const SERVICES = {
  stream: 'jina.JinaRPC',
  single: 'jina.JinaSingleDataRequestRPC',
  list: 'jina.JinaDataRequestRPC',
  discovery: 'jina.JinaDiscoverEndpointsRPC',
  dryRun: 'jina.JinaGatewayDryRunRPC',
  info: 'jina.JinaInfoRPC',
  document: 'jina.JinaSingleDocumentRequestRPC',
  health: 'grpc.health.v1.Health',
  reflection: 'grpc.reflection.v1.ServerReflection',
  reflectionAlpha: 'grpc.reflection.v1alpha.ServerReflection',
} as const;

export const METHODS = {
  call: { service: SERVICES.stream, name: 'Call' },
  single: { service: SERVICES.single, name: 'process_single_data' },
  list: { service: SERVICES.list, name: 'process_data' },
  discovery: { service: SERVICES.discovery, name: 'endpoint_discovery' },
  dryRun: { service: SERVICES.dryRun, name: 'dry_run' },
  info: { service: SERVICES.info, name: '_status' },
  document: { service: SERVICES.document, name: 'stream_doc' },
  check: { service: SERVICES.health, name: 'Check' },
  watch: { service: SERVICES.health, name: 'Watch' },
} as const;

export interface MethodName {
  readonly service: string;
  readonly name: string;
}

export const pathOf = ({ service, name }: MethodName): string => `/${service}/${name}`;

/** Metadata keys. */
export const METADATA = {
  endpoint: 'endpoint',
  requestId: 'x-request-id',
  /** W3C Trace Context. */
  traceParent: 'traceparent',
  /** HTTP headers that executors may see, as JSON. */
  headers: 'lectern-headers-bin',
  /** Set in the trailing metadata if the status of an executor's response is an error. */
  isError: 'is-error',
  inOrder: '__results_in_order__',
  prefetch: '__prefetch__',
} as const;
