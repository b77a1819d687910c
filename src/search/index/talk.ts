/** Calls across threads: both sides may call what the other serves. */

/** As much as is used of a Worker and of a MessagePort. */
export interface Port {
  postMessage(message: unknown): void;
  on(event: 'message', listener: (message: unknown) => void): unknown;
}

// biome-ignore lint/suspicious/noExplicitAny: parameters of whatever is served
type Served = Record<string, (...values: any[]) => Promise<unknown>>;

type Message =
  | { readonly call: number; readonly name: string; readonly values: readonly unknown[] }
  | { readonly answer: number; readonly value: unknown }
  | { readonly answer: number; readonly failed: unknown };

export interface Talk<Far> {
  /** What the far side answers or throws. */
  call<Name extends keyof Far & string>(
    name: Name,
    // biome-ignore lint/suspicious/noExplicitAny: the far side's own parameters
    ...values: Far[Name] extends (...values: any[]) => unknown ? Parameters<Far[Name]> : never
    // biome-ignore lint/suspicious/noExplicitAny: see above
  ): Far[Name] extends (...values: any[]) => infer Result ? Result : never;
  /** Rejects whatever still waits, and all that is called from now on. */
  end(reason: Error): void;
}

export function talkThrough<Far>(port: Port): Talk<Far> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(reason: unknown): void }>();
  let calls = 0;
  let ended: Error | undefined;
  port.on('message', (received) => {
    const message = received as Message;
    if (!('answer' in message)) return;
    const call = waiting.get(message.answer);
    waiting.delete(message.answer);
    if ('failed' in message) call?.reject(message.failed);
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
    call: call as unknown as Talk<Far>['call'],
    end(reason) {
      ended = reason;
      for (const { reject } of waiting.values()) reject(reason);
      waiting.clear();
    },
  };
}

/** Answers the far side's calls with what `served` gives or throws. */
export function servePort(port: Port, served: Served): void {
  port.on('message', (received) => {
    const message = received as Message;
    if (!('call' in message)) return;
    const { call, name, values } = message;
    (async () => served[name]!(...values))().then(
      (value) => port.postMessage({ answer: call, value } satisfies Message),
      (error: unknown) => port.postMessage({ answer: call, failed: error } satisfies Message),
    );
  });
}
