/** What bench/flow.ts measures, in a process of its own: `gateway` or `bare`. It tells its ports to its parent. */
import http from 'node:http';
import { createGrpcGateway } from '#flow/gateway/grpc.ts';
import { createHttpGateway } from '#flow/gateway/http.ts';
import { createFlow, defineFlow } from '#flow/index.ts';

export interface Ports {
  readonly http: number;
  readonly ws?: number;
  readonly grpc?: number;
  /** From the start of the flow to open ports. */
  readonly readyMs: number;
}

async function serveGateway(): Promise<Ports> {
  const from = performance.now();
  const definition = defineFlow({ protocol: ['http', 'websocket', 'grpc'] })
    .add({ name: 'first' })
    .add({ name: 'second' })
    .add({ name: 'third' })
    .definition();
  const flow = createFlow(definition);
  await flow.start();
  const open = (protocol: 'HTTP' | 'WEBSOCKET') =>
    createHttpGateway({ flow, protocol, version: '0' }).listen(0, '127.0.0.1');
  const [rest, ws] = [await open('HTTP'), await open('WEBSOCKET')];
  const grpc = await createGrpcGateway({ flow, version: '0' }).listen(0, '127.0.0.1');
  return { http: rest.port, ws: ws.port, grpc: grpc.port, readyMs: performance.now() - from };
}

/** Parses and writes the same body, and does nothing else. */
async function serveBare(): Promise<Ports> {
  const from = performance.now();
  const server = http.createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      const body = JSON.stringify(JSON.parse(Buffer.concat(parts).toString()));
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
      response.end(body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { http: (server.address() as { port: number }).port, readyMs: performance.now() - from };
}

// Asked for anything, it tells the processor time that it has used so far, in microseconds.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system);
});
process.on('disconnect', () => process.exit());
process.send!(await (process.argv[2] === 'bare' ? serveBare() : serveGateway()));
