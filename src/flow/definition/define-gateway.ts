/**
 * Defines a gateway without executors of its own from a graph in JSON, in the format that the `gateway` command of the
 * original framework accepts (docs/reference/wire/flow.md, Command line).
 */
import { isObject } from '../values.ts';
import { END, type FlowDefinition, START } from './definition.ts';
import { invalidOption, type Options } from './options.ts';
import type { Variables } from './variables.ts';
import { parseFlow } from './yaml.ts';

export interface GraphDescription {
  /** Each node and the nodes after it: `{"start-gateway": ["a"], "a": ["end-gateway"]}`. */
  readonly graph?: unknown;
  /** Conditions (`when`) by node. */
  readonly conditions?: unknown;
  /** Addresses by node: `{"a": ["grpc://host:port"]}`. Each is a replica. */
  readonly addresses?: unknown;
  /** Nodes that receive the parts of a join unmerged. */
  readonly noReduce?: unknown;
  /** gRPC metadata by node. */
  readonly metadata?: unknown;
}

/** The node that joins all nodes before the end of the graph. */
const LAST_JOIN = 'end_gateway';

type Edges = ReadonlyMap<string, readonly string[]>;

function readMapping<T>(value: unknown, path: string, read: (one: unknown, path: string) => T): Map<string, T> {
  if (value === undefined) return new Map();
  if (!isObject(value)) throw invalidOption(path, 'expected a JSON object');
  return new Map(Object.entries(value).map(([key, one]) => [key, read(one, `${path}.${key}`)]));
}

function readNames(value: unknown, path: string): string[] {
  const list = typeof value === 'string' ? [value] : (value ?? []);
  if (Array.isArray(list) && list.every((one) => typeof one === 'string')) return list;
  throw invalidOption(path, 'expected a list of strings');
}

/** Returns each node with the nodes before it, sorted topologically. */
function sortNodes(edges: Edges): Map<string, string[]> {
  const before = new Map<string, string[]>();
  const needsOf = (name: string): string[] => {
    const known = before.get(name) ?? [];
    before.set(name, known);
    return known;
  };
  for (const [from, targets] of edges) {
    if (from !== START) needsOf(from);
    for (const to of targets) needsOf(to).push(from);
  }
  const sorted = new Map<string, string[]>();
  while (sorted.size < before.size) {
    const ready = [...before].find(
      ([name, needs]) => !sorted.has(name) && needs.every((need) => need === START || sorted.has(need)),
    );
    if (!ready) throw invalidOption('graph-description', 'the graph has a cycle');
    sorted.set(...ready);
  }
  return sorted;
}

/** Throws a ParamValidationError for a name that is not in the graph. */
function checkNames(names: Iterable<string>, sorted: ReadonlyMap<string, unknown>, path: string): void {
  for (const name of names) {
    if (name === END || !sorted.has(name)) throw invalidOption(path, `${name} is not in the graph`);
  }
}

/** Nodes without a path to the end. Their results are not used. */
function floatingNodes(sorted: ReadonlyMap<string, readonly string[]>): Set<string> {
  const awaited = new Set<string>([END]);
  for (const [name, needs] of [...sorted].reverse()) if (awaited.has(name)) for (const need of needs) awaited.add(need);
  return new Set([...sorted.keys()].filter((name) => !awaited.has(name)));
}

/** Throws a ParamValidationError that names the invalid part. */
export function defineGateway(
  { graph, conditions, addresses, noReduce, metadata }: GraphDescription,
  options: Options,
  variables: Partial<Variables> = {},
): FlowDefinition {
  const edges: Edges = readMapping(graph, 'graph-description', readNames);
  const sorted = sortNodes(edges);
  const addressOf = readMapping(addresses, 'deployments-addresses', readNames);
  const when = readMapping(conditions, 'graph-conditions', (one) => one);
  const metadataOf = readMapping(metadata, 'deployments-metadata', (one) => one);
  const unreduced = readNames(noReduce, 'deployments-no-reduce');
  checkNames(addressOf.keys(), sorted, 'deployments-addresses');
  checkNames(when.keys(), sorted, 'graph-conditions');
  checkNames(metadataOf.keys(), sorted, 'deployments-metadata');
  checkNames(unreduced, sorted, 'deployments-no-reduce');
  const last = sorted.get(END) ?? [];
  sorted.delete(END);
  if (sorted.size > 0 && last.length === 0) throw invalidOption('graph-description', `nothing leads to ${END}`);
  const floating = floatingNodes(new Map([...sorted, [END, last]]));

  const entries: Options[] = [...sorted].map(([name, needs]) => {
    const found = addressOf.get(name) ?? [];
    if (found.length === 0) throw invalidOption('deployments-addresses', `${name} has no address`);
    return {
      ...{ name, needs: needs.length > 0 ? needs : [START] },
      ...{ external: true, host: found },
      ...(when.has(name) && { when: when.get(name) }),
      ...(metadataOf.has(name) && { grpc_metadata: metadataOf.get(name) }),
      ...(floating.has(name) && { floating: true }),
    };
  });
  // A flow returns the result of its last executor that is not floating.
  if (last.length > 1) entries.push({ name: LAST_JOIN, needs: [...last] });
  const definition = parseFlow(JSON.stringify({ jtype: 'Flow', executors: entries }), { ...variables, with: options });
  // Flow files cannot turn off reduction, because an external executor in a flow file may be a gateway.
  const deployments = definition.deployments.map((one) => ({ ...one, reduce: !unreduced.includes(one.name) }));
  return { ...definition, deployments };
}
