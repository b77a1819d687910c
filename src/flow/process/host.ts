/**
 * Entry point of an executor's process, started by `worker.ts`. Loads the module, runs the executor, responds to calls
 * on file descriptor 3 and logs to 4. Ends when its parent does.
 */
import net from 'node:net';
import { endWithParent } from '#concurrency/end-with-parent.ts';
import { createLog, type Log } from '#telemetry/log.ts';
import type { DataRequest } from '../request.ts';
import { importClass, openLocalExecutor } from '../runtime/open-executor.ts';
import { type Worker, WorkerUnavailableError } from '../runtime/worker.ts';
import { failedRequest } from '../status.ts';
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

const CHANNEL_FD = 3;
const LOG_FD = 4;

endWithParent({ group: true });
// Only the server ends this process: a signal to the whole service must not interrupt running calls.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => {});

const channel = new net.Socket({ fd: CHANNEL_FD, readable: true, writable: true });
channel.on('error', () => {});
channel.once('close', killGroup);
const send = (kind: number, id: number, ...parts: Uint8Array[]) => writeFrame(channel, kind, id, ...parts);

let log: Log | undefined;
let worker: Worker | undefined;
let stacks = false;
let type = '';
/** Controllers of running calls, keyed by call id. */
const calls = new Map<number, AbortController>();
/** Metrics of a call, keyed by its response. */
const metrics = new WeakMap<DataRequest, Processed>();

function killGroup(): void {
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

function report(error: unknown, message: string): void {
  if (log) log.error({ stack: stackOf(error) }, `${message}: ${textOf(error)}`);
  else process.stderr.write(`${message}: ${stackOf(error) ?? textOf(error)}\n`);
}

process.on('unhandledRejection', (reason) => report(reason, 'unhandled promise rejection'));
process.on('uncaughtException', (error) => {
  report(error, 'an uncaught error ends the process of the executor');
  send(FRAME.uncaught, 0, encodeText(textOf(error)));
  channel.uncork();
  process.exit(1);
});

async function start(init: Init): Promise<void> {
  const { deployment, source, position, logLevel } = init;
  stacks = init.stacks;
  process.title = `lectern executor ${position.name}`;
  if (logLevel !== undefined) log = createLog(logLevel, LOG_FD);
  try {
    const found = await importClass(source);
    if (!found) {
      send(FRAME.notStarted, 0, encodeNotStarted({ message: '', missing: true }));
      return;
    }
    type = found.name;
    const observe = { processed: (facts: Processed, request: DataRequest) => void metrics.set(request, facts) };
    worker = await openLocalExecutor(deployment, source, found, position, { log, stacks, observe });
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
    processed = metrics.get(request);
    send(FRAME.answer, id, ...encodeAnswer({ request, processed }));
  } catch (error) {
    if (error instanceof WorkerUnavailableError) {
      send(FRAME.closedExecutor, id, encodeText(error.message));
      return;
    }
    // Decode the call again: the changed documents could not be encoded.
    report(error, 'the answer of the executor cannot be encoded');
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
