/** Remote calls between threads. Each side can call the methods that the other side provides. */

/** The part of the Worker and MessagePort interfaces that is used here. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: parameters of any method
type RpcMethods = Record<string, (...values: any[]) => Promise<unknown>>;

type Message =
  | { readonly call: number; readonly name: string; readonly values: readonly unknown[] }
  | { readonly answer: number; readonly value: unknown }
  | {
      readonly answer: number;
      readonly failed: unknown;
      /** Of the error: it is lost when an error is sent to another thread. */
      readonly name: string | undefined;
    };

export interface RpcClient<Remote> {
  /** Calls a method of the other side, and resolves or rejects with its outcome. */
  call<Name extends keyof Remote & string>(
    name: Name,
    // biome-ignore lint/suspicious/noExplicitAny: parameters of the remote method
    ...values: Remote[Name] extends (...values: any[]) => unknown ? Parameters<Remote[Name]> : never
    // biome-ignore lint/suspicious/noExplicitAny: see above
  ): Remote[Name] extends (...values: any[]) => infer Result ? Result : never;
  /** Rejects all pending and later calls. */
  end(reason: Error): void;
}

/** `failureOf` restores the class of an error of the other side, from its name there. */
export function createRpcClient<Remote>(
  port: Port,
  failureOf: (failed: unknown, name: string | undefined) => unknown = (failed) => failed,
): RpcClient<Remote> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: unknown): void }>();
  let calls = 0;
  let ended: Error | undefined;
  port.on('message', (received) => {
    const message = received as Message;
    if (!('answer' in message)) return;
    const call = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('failed' in message) call?.reject(failureOf(message.failed, message.name));
    else call?.resolve(message.value);
  });
  const call = (name: string, ...values: unknown[]) =>
    new Promise((resolve, reject) => {
      if (ended) return reject(ended);
      calls += 1;
      waiting.set(calls, { resolve, reject });
      port.postMessage({ call: calls, name, values } satisfies Message);
    });
  return {
    call: call as unknown as RpcClient<Remote>['call'],
    end(reason) {
      ended = reason;
      for (const { reject } of waiting.values()) reject(reason);
      waiting.clear();
    },
  };
}

/** Handles the calls of the other side with the methods in `served`. */
export function serveRpc(port: Port, served: RpcMethods): void {
  port.on('message', (received) => {
    const message = received as Message;
    if (!('call' in message)) return;
    const { call, name, values } = message;
    (async () => served[name]!(...values))().then(
      (value) => port.postMessage({ answer: call, value } satisfies Message),
      (error: unknown) => {
        const errorName = error instanceof Error ? error.name : undefined;
        port.postMessage({ answer: call, failed: error, name: errorName } satisfies Message);
      },
    );
  });
}
