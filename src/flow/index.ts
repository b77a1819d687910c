/** Entry point of `lectern/flow`: sends documents through a graph of executors. */
export {
  createFlowClient,
  type FlowClient,
  type FlowClientOptions,
  FlowFailed,
  type PostOptions,
} from './client/client.ts';
export { FlowUnreachable } from './client/transport.ts';
export { defineExecutor } from './definition/define-executor.ts';
export { type AddOptions, defineFlow, type FlowBuilder, type Uses } from './definition/define-flow.ts';
export { defineGateway, type GraphDescription } from './definition/define-gateway.ts';
export type {
  DeploymentDefinition,
  ExecutorSource,
  ExposedEndpoint,
  FlowDefinition,
  GatewayOptions,
} from './definition/definition.ts';
export { type LoadOptions, loadFlow, parseFlow } from './definition/yaml.ts';
export { createId, Document, type DocumentInit, type Score, type Scores } from './document.ts';
export {
  type Answer,
  type Bindings,
  type Call,
  Executor,
  type ExecutorClass,
  type ExecutorContext,
  type ExecutorSetup,
  on,
  requests,
} from './executor.ts';
export { BUILT_IN_NAMES, createBuiltIns } from './executors/built-in.ts';
export type {
  BuiltInTools,
  Collection,
  EmbedAsk,
  Entry,
  FoundPassage,
  RerankAsk,
} from './executors/tools.ts';
export { type ExportedFile, type ExportOptions, exportFlow, exportWarnings } from './export/index.ts';
export { createFlow, type Flow, type FlowTools, type HandleOptions } from './flow.ts';
export { createGrpcGateway, type GrpcGateway, type GrpcGatewayTools } from './gateway/grpc.ts';
export { createHttpGateway, type HttpGateway } from './gateway/http.ts';
export { createStatusReport } from './gateway/status-report.ts';
export { createFlowMetrics, type FlowMetrics } from './metrics/prometheus.ts';
export { type MetricsPort, serveMetrics } from './metrics/serve-metrics.ts';
export { NdArray } from './ndarray.ts';
export type { FlowObserver } from './observer.ts';
export { type Operation, openOperation } from './operation.ts';
export { reloadFlowOnChange } from './reload/reload-files.ts';
export { createReloadableFlow, type ReloadableFlow } from './reload/reloadable-flow.ts';
export type { FileWatcher } from './reload/watch-files.ts';
export { pingGrpc } from './remote/ping.ts';
export { createConnect } from './remote/worker.ts';
export { createRequest, type DataRequest, failed, type Route, type Status } from './request.ts';
export { type ExecutorServer, type ServeExecutorOptions, serveExecutor } from './serve-executor.ts';
export { type FlowPlace, type FlowServer, type ServeFlowOptions, serveFlow, socketLimits } from './serve-flow.ts';
export type { JsonObject, JsonValue } from './values.ts';
