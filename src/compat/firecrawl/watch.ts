/** The WebSocket of a job: what there is already, then each document, then the end. */
import type { WebSocket } from 'ws';
import type { CrawlResult } from '#crawl/index.ts';
import { asProblem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { acceptUpgrade, isUpgrade } from '../upgrade.ts';
import type { FirecrawlDocument } from './document.ts';
import type { Version } from './fields.ts';
import { documentOf, findJob, isFinished, type Job, writeState } from './jobs.ts';
import { isFull, showJob } from './read-jobs.ts';

const NORMAL = 1_000;
/** The code of the original for a job that failed. */
const FAILED = 3_000;
/** A close frame has at most 125 bytes, two of which are the code (RFC 6455, section 5.5). */
const MAX_REASON = 123;
const PING_MS = 20_000;
/** If a client reads slowly, further documents wait until it has caught up to this size. */
const MAX_UNREAD_BYTES = 4 * 2 ** 20;
const UNREAD_POLL_MS = 100;

/** `GET /crawl/{id}`, with or without an upgrade. */
export const watchOrShow = (version: Version) => {
  const show = showJob(version);
  return (call: CompatCall) => (isUpgrade(call.request) ? watch(call) : show(call));
};

async function watch(call: CompatCall): Promise<void> {
  const found = await findJob(call);
  const socket = await acceptUpgrade(call.request, call.reply);
  const gone = new AbortController();
  const pings = setInterval(() => socket.ping(), PING_MS);
  socket.on('close', () => {
    clearInterval(pings);
    gone.abort();
  });
  socket.on('error', () => socket.terminate());
  try {
    await sendAll(socket, found, call, gone.signal);
  } catch (error) {
    close(socket, FAILED, { type: 'error', error: asProblem(error).message });
  }
}

async function sendAll(socket: WebSocket, found: Job, { native }: CompatCall, signal: AbortSignal): Promise<void> {
  const { job, data } = found;
  const last = await sendExisting(socket, found, native.crawls.results(job, {}));
  if (isFinished(job)) {
    end(socket, found);
    return;
  }
  for await (const event of native.crawls.follow(job, last, signal)) {
    if (event.kind === 'result' && event.event === 'page') await sendDocument(socket, found, event);
    if (event.kind === 'done') end(socket, { job: event.job, data });
  }
}

/** Sends the documents that there are, as many as a response has at once. Returns the number of the last result. */
async function sendExisting(socket: WebSocket, found: Job, results: AsyncIterable<CrawlResult>): Promise<number> {
  const documents: FirecrawlDocument[] = [];
  let last = 0;
  let characters = 0;
  let isSent = false;
  const sendCatchup = () => {
    isSent = true;
    send(socket, { type: 'catchup', data: { ...writeState(found), data: documents } });
  };
  for await (const result of results) {
    if (socket.readyState !== socket.OPEN) break;
    last = result.seq;
    if (result.event !== 'page') continue;
    characters += result.body.length;
    if (!isSent && isFull(documents.length, characters)) sendCatchup();
    if (isSent) await sendDocument(socket, found, result);
    else documents.push(documentOf(found, result));
  }
  if (!isSent) sendCatchup();
  return last;
}

async function sendDocument(socket: WebSocket, found: Job, result: CrawlResult): Promise<void> {
  await caughtUp(socket);
  send(socket, { type: 'document', data: documentOf(found, result) });
}

/** Clients read the end from a frame, or from the reason of the close frame. */
function end(socket: WebSocket, { job }: Job): void {
  if (job.state === 'completed') {
    close(socket, NORMAL, { type: 'done' });
    return;
  }
  const error = job.state === 'cancelled' ? 'The job was cancelled' : (job.error ?? 'The job failed');
  close(socket, FAILED, { type: 'error', error });
}

function close(socket: WebSocket, code: number, message: { readonly type: string; readonly error?: string }): void {
  send(socket, message);
  socket.close(code, reasonOf(message));
}

function reasonOf(message: { readonly type: string; readonly error?: string }): string {
  let reason = JSON.stringify(message);
  for (let { error = '' } = message; Buffer.byteLength(reason) > MAX_REASON; ) {
    error = error.slice(0, -1);
    reason = JSON.stringify({ ...message, error });
  }
  return reason;
}

function send(socket: WebSocket, message: object): void {
  if (socket.readyState === socket.OPEN) socket.send(JSON.stringify(message));
}

async function caughtUp(socket: WebSocket): Promise<void> {
  while (socket.readyState === socket.OPEN && socket.bufferedAmount > MAX_UNREAD_BYTES) {
    await new Promise((resolve) => setTimeout(resolve, UNREAD_POLL_MS));
  }
}
