/** Gateways from a graph in JSON. */
import { expect, it } from 'vitest';
import { defineGateway } from './define-gateway.ts';

const ADDRESSES = { a: ['grpc://one:1', 'grpc://two:2'], b: 'b:3', c: ['grpcs://c:4'], d: ['d:5'] };

it('reads the graph with addresses, conditions, metadata and joins without reduction', () => {
  const { deployments, gateway } = defineGateway(
    {
      graph: { 'start-gateway': ['b', 'a'], c: ['end-gateway'], a: ['c', 'd'], b: ['c'] },
      addresses: ADDRESSES,
      conditions: { b: { tags__x: { $eq: 1 } } },
      metadata: { a: { key: 'value' } },
      noReduce: ['c'],
    },
    { protocol: ['http'], port: ['8080'], timeout_send: '500', compression: 'Gzip' },
  );
  expect(gateway).toMatchObject({ protocols: ['HTTP'], ports: [8080] });
  expect(
    deployments.map(({ name, needs, external, floating, reduce, tls }) => [
      name,
      needs,
      external,
      floating,
      reduce,
      tls,
    ]),
  ).toEqual([
    ['b', ['start-gateway'], [{ host: 'b', port: 3 }], false, true, false],
    [
      'a',
      ['start-gateway'],
      [
        { host: 'one', port: 1 },
        { host: 'two', port: 2 },
      ],
      false,
      true,
      false,
    ],
    ['c', ['a', 'b'], [{ host: 'c', port: 4 }], false, false, true],
    ['d', ['a'], [{ host: 'd', port: 5 }], true, true, false],
  ]);
  expect(deployments[0]!.when).toEqual({ tags__x: { $eq: 1 } });
  expect(deployments[1]).toMatchObject({ grpcMetadata: { key: 'value' }, timeoutSendMs: 500, compression: 'gzip' });
});

it('joins all branches that lead to the end', () => {
  const { deployments } = defineGateway(
    {
      graph: { 'start-gateway': ['a', 'b'], a: ['end-gateway'], b: 'end-gateway' },
      addresses: { a: ['a:1'], b: ['b:2'] },
    },
    {},
  );
  expect(deployments.map(({ name, needs, external }) => [name, needs, external === undefined])).toEqual([
    ['a', ['start-gateway'], false],
    ['b', ['start-gateway'], false],
    ['end_gateway', ['a', 'b'], true],
  ]);
  expect(defineGateway({}, {}).deployments).toEqual([]);
});

it.each<[string, object, string]>([
  ['a list', { graph: [] }, 'graph-description: expected a JSON object'],
  ['numbers', { graph: { a: [1] } }, 'graph-description.a: expected a list of strings'],
  ['a cycle', { graph: { 'start-gateway': ['a'], a: ['b'], b: ['a', 'end-gateway'] } }, 'the graph has a cycle'],
  ['no end', { graph: { 'start-gateway': ['a'] }, addresses: { a: ['a:1'] } }, 'nothing leads to end-gateway'],
  ['no address', { graph: { 'start-gateway': ['a'], a: ['end-gateway'] } }, 'deployments-addresses: a has no address'],
  [
    'no port',
    { graph: { 'start-gateway': ['a'], a: ['end-gateway'] }, addresses: { a: ['here'] } },
    'the external executor at here needs a port',
  ],
  ['a foreign address', { addresses: { x: ['x:1'] } }, 'deployments-addresses: x is not in the graph'],
  ['a foreign condition', { conditions: { x: {} } }, 'graph-conditions: x is not in the graph'],
  ['a foreign join', { noReduce: ['x'] }, 'deployments-no-reduce: x is not in the graph'],
  ['foreign metadata', { metadata: { x: {} } }, 'deployments-metadata: x is not in the graph'],
])('refuses %s', (_, graph, message) => {
  expect(() => defineGateway(graph, {})).toThrow(message);
});
