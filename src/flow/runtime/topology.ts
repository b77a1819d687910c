/**
 * The shape of a flow's graph: where the input of each deployment comes from, and which deployments the response
 * depends on.
 */
import { type DeploymentDefinition, START } from '../definition/definition.ts';

export interface Input {
  /** Index of the upstream deployment; -1 for the start. */
  readonly from: number;
  /** Index of the copy of the upstream output to use. Each consumer has its own copy. */
  readonly copy: number;
}

/** Deployments are identified by their index in the definition. */
export interface Topology {
  /** The deployment whose output is the response; -1 if there is none. */
  readonly last: number;
  /** The inputs of each deployment, in the order of `needs`. */
  readonly inputs: readonly (readonly Input[])[];
  /** Number of consumers of each deployment's output, including the client. */
  readonly consumers: readonly number[];
  /** Number of consumers of the original request. */
  readonly startConsumers: number;
  /** The deployments that the response depends on. */
  readonly awaited: ReadonlySet<number>;
  /** Depth-first order from the start: a join comes right after the first branch that leads to it. */
  readonly order: readonly number[];
}

export function createTopology(definitions: readonly DeploymentDefinition[]): Topology {
  const indexes = new Map(definitions.map(({ name }, at) => [name, at]));
  const last = definitions.findLastIndex(({ floating }) => !floating);
  const consumers = definitions.map(() => 0);
  let startConsumers = 0;
  const inputs = definitions.map(({ needs }) =>
    needs.map((name): Input => {
      if (name === START) return { from: -1, copy: startConsumers++ };
      const from = indexes.get(name)!;
      return { from, copy: consumers[from]!++ };
    }),
  );
  // The client is one more consumer of the last deployment.
  if (last >= 0) consumers[last]!++;
  else startConsumers++;
  return { last, inputs, consumers, startConsumers, awaited: findAwaited(last, inputs), order: depthFirst(inputs) };
}

function findAwaited(last: number, inputs: Topology['inputs']): ReadonlySet<number> {
  const found = new Set<number>();
  const open = last >= 0 ? [last] : [];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (at < 0 || found.has(at)) continue;
    found.add(at);
    open.push(...inputs[at]!.map(({ from }) => from));
  }
  return found;
}

function depthFirst(inputs: Topology['inputs']): number[] {
  const next = new Map<number, number[]>();
  for (const [at, froms] of inputs.entries()) {
    for (const { from } of froms) next.set(from, [...(next.get(from) ?? []), at]);
  }
  const order: number[] = [];
  const visited = new Set<number>();
  const open = [...(next.get(-1) ?? [])].reverse();
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    if (visited.has(at)) continue;
    visited.add(at);
    order.push(at);
    open.push(...(next.get(at) ?? []).reverse());
  }
  return order;
}
