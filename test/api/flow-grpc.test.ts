/** The gRPC door through real sockets, asked by the library's own client. */
import * as grpc from '@grpc/grpc-js';
import { afterEach, describe, expect, it } from 'vitest';
import type { AddOptions } from '../../src/flow/define.ts';
import { closeAll, flowOf, texts, textsOf } from '../../src/flow/flow.suite.ts';
import { createGrpcGateway, type GrpcGateway, type GrpcGatewayTools } from '../../src/flow/gateway/grpc.ts';
import { decodeRequest, encodeRequest } from '../../src/flow/proto/codec.ts';
import { createRequest, type RequestInit } from '../../src/flow/request.ts';

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
  await closeAll();
});

async function gatewayOf(
  deployments: readonly AddOptions[],
  options: Record<string, unknown> = {},
  tools: Partial<GrpcGatewayTools> = {},
) {
  const flow = await flowOf(deployments, options);
  const gateway: GrpcGateway = createGrpcGateway({ flow, version: '1.2.3', ...tools });
  const { port } = await gateway.listen(0, '127.0.0.1');
  open.push({ close: () => gateway.close(1000) });
  const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure(), {
    'grpc.max_receive_message_length': -1,
    'grpc.max_send_message_length': -1,
  });
  open.push(client);
  return { gateway, client, port, flow };
}

const same = (bytes: Buffer) => bytes;
const bytesOf = (init: RequestInit) => Buffer.from(encodeRequest(createRequest({ endpoint: '/x', ...init })));

function unary(client: grpc.Client, path: string, message: Buffer, metadata = new grpc.Metadata()) {
  return new Promise<Buffer>((resolve, reject) => {
    client.makeUnaryRequest(path, same, same, message, metadata, (error, value) =>
      error ? reject(error) : resolve(value!),
    );
  });
}

const SINGLE = '/jina.JinaSingleDataRequestRPC/process_single_data';

describe('one request at a time', () => {
  it('answers', async () => {
    const { client } = await gatewayOf([{ uses: 'Mark', name: 'a' }]);
    const answer = decodeRequest(await unary(client, SINGLE, bytesOf({ requestId: 'r1', docs: texts('hello') })));
    expect(answer.header.requestId).toBe('r1');
    expect(textsOf(answer)).toEqual(['hello a']);
    expect(answer.routes.map(({ executor }) => executor)).toEqual(['gateway', 'a']);
  });
});
