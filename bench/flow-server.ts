/**
 * The server that bench/flow.ts measures, in a separate process: `bare`, `gateway` (executors without a handler for the
 * endpoint), `inside` (executors whose handler does nothing) or `own` (the same, but each executor in a separate
 * process). It sends its ports to its parent.
 */
import { readFileSync } from 'node:fs';
import http from 'node:http';
import path from 'node:path';
import { createFlow, createGrpcGateway, createHttpGateway, defineFlow } from '#flow/index.ts';

export type ServerKind = 'bare' | 'gateway' | 'inside' | 'own';

export interface Ports {
  readonly http: number;
  readonly ws?: number;
  readonly grpc?: number;
  /** Time from the start of the flow until its ports are open. */
  readonly readyMs: number;
}

async function serveGateway(kind: ServerKind): Promise<Ports> {
  const from = performance.now();
  const executor = kind === 'gateway' ? {} : { uses: 'Idle', modules: path.join(import.meta.dirname, 'flow-idle.mjs') };
  const definition = defineFlow({ protocol: ['http', 'websocket', 'grpc'] })
    .add({ name: 'first', ...executor })
    .add({ name: 'second', ...executor })
    .add({ name: 'third', ...executor })
    .definition();
  const flow = createFlow(definition, { ownProcesses: kind === 'own' });
  await flow.start();
  const open = (protocol: 'HTTP' | 'WEBSOCKET') =>
    createHttpGateway({ flow, protocol, version: '0' }).listen(0, '127.0.0.1');
  const [rest, ws] = [await open('HTTP'), await open('WEBSOCKET')];
  const grpc = await createGrpcGateway({ flow, version: '0' }).listen(0, '127.0.0.1');
  return { http: rest.port, ws: ws.port, grpc: grpc.port, readyMs: performance.now() - from };
}

/** A server that parses the request body and writes it back, and does nothing else. */
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

/** A clock tick in proc(5) is a hundredth of a second. */
const TICK_MICROS = 10_000;

/** Processor time of the child processes, in microseconds (Linux only). */
function childrenMicros(): number {
  if (process.platform !== 'linux') return 0;
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean);
  const ticks = children.map((pid) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)!.split(' ');
    return Number(fields[11]) + Number(fields[12]);
  });
  return ticks.reduce((sum, one) => sum + one, 0) * TICK_MICROS;
}

// Responds to every message with the processor time used so far, in microseconds.
process.on('message', () => {
  const { user, system } = process.cpuUsage();
  process.send!(user + system + childrenMicros());
});
process.on('disconnect', () => process.exit());
const kind = process.argv[2] as ServerKind;
process.send!(await (kind === 'bare' ? serveBare() : serveGateway(kind)));
