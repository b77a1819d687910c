/** Executors and helpers for tests of flows. */
import { type AddOptions, defineFlow } from './definition/define-flow.ts';
import type { Options } from './definition/options.ts';
import { Document } from './document.ts';
import { type Call, Executor, requests } from './executor.ts';
import { createFlow, type Flow, type FlowTools, type HandleOptions } from './flow.ts';
import { createRequest, type DataRequest, type RequestInit } from './request.ts';

/** Appends its name to the text of every document. */
export class Mark extends Executor<{ mark?: string }> {
  static override readonly requests = requests<Mark>({ '/default': 'mark' });

  mark({ docs }: Call): void {
    const mark = this.options.mark ?? this.context.deployment;
    for (const doc of docs) doc.text += doc.text ? ` ${mark}` : mark;
  }
}

/** Records its context and calls. */
export class Tell extends Executor {
  static override readonly requests = requests<Tell>({ '/default': 'tell' });

  tell({ parameters, endpoint, docs, headers }: Call) {
    const { name, shardId, shards, replicas, env } = this.context;
    return {
      parameters,
      endpoint,
      docs: docs.length,
      headers: { ...headers },
      name,
      shardId,
      shards,
      replicas,
      env: { ...env },
    };
  }
}

export class Fail extends Executor<{ error?: Error }> {
  static override readonly requests = requests<Fail>({ '/default': 'fail' });

  fail(): void {
    throw this.options.error ?? Object.assign(new RangeError('boom'), { args: ['boom', 42] });
  }
}

/** Calls a function from the test. */
export class Run extends Executor<{ run: (call: Call, self: Executor) => unknown }> {
  static override readonly requests = requests<Run>({ '/default': 'run' });

  // biome-ignore lint/suspicious/noExplicitAny: tests return values that executors must not return
  run(call: Call): any {
    return this.options.run(call, this);
  }
}

export const EXECUTORS = { Mark, Tell, Fail, Run };

const open: Flow[] = [];

/** Starts a flow that `closeAll` closes. */
export async function flowOf(
  deployments: readonly AddOptions[],
  options: Options = {},
  tools: FlowTools = {},
): Promise<Flow> {
  const builder = defineFlow(options);
  for (const one of deployments) builder.add(one);
  const flow = createFlow(builder.definition(), { executors: EXECUTORS, ...tools });
  open.push(flow);
  await flow.start();
  return flow;
}

export async function closeAll(): Promise<void> {
  await Promise.all(open.splice(0).map((flow) => flow.close(1000)));
}

export const texts = (...all: string[]): Document[] => all.map((text, at) => new Document({ id: `d${at}`, text }));

export const ask = (flow: Flow, init: RequestInit = {}, options: HandleOptions = {}): Promise<DataRequest> =>
  flow.handle(createRequest({ endpoint: '/x', docs: texts(''), ...init }), options);

export const textsOf = (answer: DataRequest): string[] => answer.docs.map(({ text }) => text);
export const routesOf = (answer: DataRequest): string[] => answer.routes.map(({ executor }) => executor);
