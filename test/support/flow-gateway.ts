/** A flow behind its gateway on a free port of 127.0.0.1, with executors that several tests use. */

import { createHttpGateway, type GatewayLimits, type HttpGateway } from '#flow/gateway/http.ts';
import { type AddOptions, type Call, createFlow, defineFlow, Executor, type Flow, requests } from '#flow/index.ts';
import type { Log } from '#telemetry/log.ts';

/** Appends its mark to the text of each document. It can also fail or wait. */
export class Marker extends Executor<{ mark?: string }> {
  static override readonly requests = requests<Marker>({
    '/index': 'mark',
    '/search': 'mark',
    '/update': 'mark',
    '/train': 'mark',
    '/foo': 'mark',
    '/fail': 'fail',
    '/wait': 'wait',
    '/result': 'result',
    '/headers': 'headers',
  });

  mark({ docs, parameters }: Call) {
    for (const doc of docs) doc.text += String(parameters.mark ?? this.options.mark ?? '!');
  }

  fail() {
    throw Object.assign(new RangeError('boom'), { args: ['boom', 42] });
  }

  async wait({ parameters, signal }: Call) {
    await new Promise((resolve) => {
      setTimeout(resolve, Number(parameters.ms ?? 0));
      signal.addEventListener('abort', resolve);
    });
  }

  result({ docs }: Call) {
    return { count: docs.length };
  }

  headers({ headers }: Call) {
    return { ...headers };
  }
}

/**
 * An executor that blocks each request to /gate until `release` is called. `begun` resolves when the first request
 * arrives.
 */
export function createGate() {
  let begin: () => void = () => {};
  let release: () => void = () => {};
  const started = new Promise<void>((resolve) => {
    begin = resolve;
  });
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  class Gate extends Executor {
    static override readonly requests = requests<Gate>({ '/gate': 'pass' });
    async pass() {
      begin();
      await released;
    }
  }
  return { Gate, started, release: () => release() };
}

export interface Served {
  readonly url: string;
  readonly port: number;
  readonly flow: Flow;
  readonly gateway: HttpGateway;
  close(): Promise<void>;
}

export interface ServeOptions {
  readonly protocol?: 'HTTP' | 'WEBSOCKET';
  readonly executors?: readonly AddOptions[];
  readonly limits?: Partial<GatewayLimits>;
  readonly log?: Log;
  readonly [option: string]: unknown;
}

/** Serves a flow. All other options are passed to the flow. */
export async function serveFlow({
  protocol = 'HTTP',
  executors = [{ name: 'marker', uses: Marker }],
  limits,
  log,
  ...options
}: ServeOptions = {}): Promise<Served> {
  let builder = defineFlow({ protocol, ...options });
  for (const executor of executors) builder = builder.add(executor);
  const flow = createFlow(builder.definition(), { stacks: false });
  await flow.start();
  const gateway = createHttpGateway({ flow, protocol, version: '1.2.3', log, ...(limits && { limits }) });
  const { port, url } = await gateway.listen(0, '127.0.0.1');
  return {
    url,
    port,
    flow,
    gateway,
    async close() {
      await gateway.close(1000);
      await flow.close(1000);
    },
  };
}
