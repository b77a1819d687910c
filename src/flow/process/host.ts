/**
 * What runs in the process of an executor (`worker.ts` starts it): loads the module, builds the executor, answers the
 * calls that come over file descriptor 3 and logs over 4. It ends with the server that started it.
 */
import net from 'node:net';
import { endWithParent } from '#concurrency/end-with-parent.ts';
import { createLog, type Log } from '#telemetry/log.ts';
import { importClass, openLocal } from '../executor-source.ts';
import type { DataRequest } from '../request.ts';
import { failedRequest } from '../status.ts';
import { type Worker, WorkerUnavailableError } from '../worker.ts';
import { createFrameReader, FRAME, writeFrame } from './frames.ts';
import {
  decodeCall,
  decodeInit,
  encodeAnswer,
  encodeNotStarted,
  encodeReady,
  encodeText,
  type Init,
  type Processed,
} from './messages.ts';

const CHANNEL = 3;
const LOG = 4;

endWithParent({ group: true });
// The server decides when it ends: a signal to all processes of a service must not end calls in work.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const channel = new net.Socket({ fd: CHANNEL, readable: true, writable: true });
channel.on('error', () => {});
channel.once('close', endAll);
const send = (kind: number, id: number, ...parts: Uint8Array[]) => writeFrame(channel, kind, id, ...parts);

let log: Log | undefined;
let worker: Worker | undefined;
let stacks = false;
let type = '';
/** By the number of the call. */
const calls = new Map<number, AbortController>();
/** What was measured, by the request that is answered. */
const measured = new WeakMap<DataRequest, Processed>();

function endAll(): void {
  if (process.platform !== 'win32') process.kill(-process.pid, 'SIGKILL');
  process.exit();
}

function textOf(error: unknown): string {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'an error that cannot be read';
  }
}

function stackOf(error: unknown): string | undefined {
  try {
    return error instanceof Error ? String(error.stack) : undefined;
  } catch {
    return undefined;
  }
}

function tell(error: unknown, message: string): void {
  if (log) log.error({ stack: stackOf(error) }, `${message}: ${textOf(error)}`);
  else process.stderr.write(`${message}: ${stackOf(error) ?? textOf(error)}\n`);
}

process.on('unhandledRejection', (reason) => tell(reason, 'unhandled promise rejection'));
process.on('uncaughtException', (error) => {
  tell(error, 'uncaught exception, the process exits of the executor');
  send(FRAME.uncaught, 0, encodeText(textOf(error)));
  channel.uncork();
  process.exit(1);
});

async function start(init: Init): Promise<void> {
  const { place, source, seat, logLevel } = init;
  stacks = init.stacks;
  process.title = `lectern executor ${seat.name}`;
  if (logLevel !== undefined) log = createLog(logLevel, LOG);
  try {
    const found = await importClass(source);
    if (!found) {
      send(FRAME.notStarted, 0, encodeNotStarted({ message: '', missing: true }));
      return;
    }
    type = found.name;
    const observe = { processed: (facts: Processed, request: DataRequest) => void measured.set(request, facts) };
    worker = await openLocal(place, source, found, seat, { log, stacks, observe });
    send(FRAME.ready, 0, encodeReady({ type, endpoints: [...worker.endpoints()!] }));
  } catch (error) {
    log?.error({ stack: stackOf(error) }, `the executor could not start: ${textOf(error)}`);
    send(FRAME.notStarted, 0, encodeNotStarted({ message: textOf(error).replace(/^Error: /, ''), missing: false }));
  }
}

async function call(id: number, payload: Buffer): Promise<void> {
  const controller = new AbortController();
  calls.set(id, controller);
  let processed: Processed | undefined;
  try {
    const request = await worker!.process({ ...decodeCall(payload), signal: controller.signal });
    processed = measured.get(request);
    send(FRAME.answer, id, ...encodeAnswer({ request, processed }));
  } catch (error) {
    if (error instanceof WorkerUnavailableError) {
      send(FRAME.closedExecutor, id, encodeText(error.message));
      return;
    }
    // Decoded anew: what the executor has made of the documents cannot be sent.
    tell(error, 'what the executor answers cannot be sent');
    const request = failedRequest(decodeCall(payload).requests, error, type, stacks);
    send(FRAME.answer, id, ...encodeAnswer({ request, processed: processed && { ...processed, failed: true } }));
  } finally {
    calls.delete(id);
  }
}

async function close(): Promise<void> {
  let failure = '';
  try {
    await worker?.close();
  } catch (error) {
    failure = textOf(error);
  }
  send(FRAME.closed, 0, encodeText(failure));
  channel.uncork();
  channel.end(() => process.exit(0));
}

const read = createFrameReader((kind, id, payload) => {
  if (kind === FRAME.call) void call(id, payload);
  else if (kind === FRAME.cancel) calls.get(id)?.abort(new Error(payload.toString()));
  else if (kind === FRAME.ping) send(FRAME.pong, id);
  else if (kind === FRAME.init) void start(decodeInit(payload));
  else if (kind === FRAME.close) void close();
});
channel.on('data', read);
