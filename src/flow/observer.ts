/** What is counted and timed, for metrics. Every member is called at once and must not throw. */
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
  /** The gateway has answered a request with documents: sizes as they went over the wire, compression aside. */
  transferred?(facts: { receivedBytes: number; sentBytes: number }): void;
}
