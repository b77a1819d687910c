/** A flow that runs: it starts its deployments, sends requests through them and closes them again. */
import type { Log } from '#telemetry/log.ts';
import type { FlowDefinition } from './definition.ts';
import type { ExecutorClass } from './executor.ts';
import type { DataRequest, Route, Status } from './request.ts';
import type { Connect } from './worker.ts';

/** What is counted and timed, for metrics; every member is called at once and must not throw. */
export interface FlowObserver {
  /** A request came to the gateway. */
  requestStarted?(): void;
  requestEnded?(facts: { ms: number; failed: boolean }): void;
  /** A deployment was sent a request and has answered. */
  sent?(facts: { deployment: string; ms: number; failed: boolean }): void;
  /** An executor of this process has worked: `endpoint` is the one bound, `asked` the one in the request. */
  processed?(facts: {
    runtime: string;
    executor: string;
    endpoint: string;
    asked: string;
    ms: number;
    documents: number;
    failed: boolean;
  }): void;
}

export interface FlowTools {
  /** Opens external deployments. */
  readonly connect?: Connect;
  /** Executors that a definition may name. */
  readonly executors?: Readonly<Record<string, ExecutorClass>>;
  readonly log?: Log;
  readonly observe?: FlowObserver;
  /** Whether failures show where in the code they happened. */
  readonly stacks?: boolean;
}

export interface HandleOptions {
  /** Aborted when the client has gone. */
  readonly signal?: AbortSignal;
  /** Of the HTTP request, names in lower case; the flow lets those through that its definition names. */
  readonly headers?: Readonly<Record<string, string | string[] | undefined>>;
}

export interface Flow {
  readonly definition: FlowDefinition;
  /** Endpoints that some executor serves, in the order of deployments; those of remote ones once they are known. */
  endpoints(): string[];
  /** Resolves when every deployment of this process is ready; rejects with one error that names those which are not. */
  start(): Promise<void>;
  /**
   * The request as it leaves the flow; the one given belongs to the flow from then on. A failing executor is data in
   * `header.status`. Throws ServiceAwayError, ServiceTimeoutError or DownstreamServiceError, with the facts `deployment` and `addresses`,
   * when an executor cannot be reached or is too slow, SubmittedDataMalformedError for a target that is not a pattern,
   * ServiceNodeResourceDrainError when the flow is closing.
   */
  handle(request: DataRequest, options?: HandleOptions): Promise<DataRequest>;
  /** Sends an empty request through the whole flow. Never throws. */
  dryRun(signal?: AbortSignal): Promise<Status>;
  /** Builds the executors of the deployments that match anew and sends requests to them when they are ready. */
  reload(targets: readonly string[]): Promise<Route[]>;
  /** Refuses new requests and waits for those in work, at most for `graceMs`. */
  close(graceMs?: number): Promise<void>;
}
