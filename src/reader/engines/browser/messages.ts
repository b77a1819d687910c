/**
 * Bounds the messages that the browser sends over its DevTools pipe. A page decides how long some of them are: a request
 * is reported with its whole body, a line of the console with its whole text. Playwright makes one string of a message,
 * and a message longer than the longest string of V8 ends the process.
 */
import diagnostics from 'node:diagnostics_channel';
import type { Readable, Writable } from 'node:stream';

/** Events that nobody here needs, and that a page can send as many of as it likes. */
const UNHEARD = new Set([
  'Log.entryAdded',
  'Network.eventSourceMessageReceived',
  'Network.webSocketFrameReceived',
  'Network.webSocketFrameSent',
  'Runtime.consoleAPICalled',
  'Runtime.exceptionThrown',
]);
/** An event that is longer is dropped. Those that matter are a few KB, but for a request with a large body. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
/** An answer that is longer becomes an error. The longest are pictures of whole pages, in base64. */
const MAX_ANSWER_BYTES = 192 * 1024 * 1024;
/** How much of the beginning and of the end of a dropped message is kept, to tell what it was. */
const KEPT_BYTES = 512;
/** Ids of our own commands: far above those of Playwright, which counts from 1. */
const FIRST_OWN_ID = 2_000_000_000;

export interface Dropped {
  /** The event, or `answer`. */
  readonly what: string;
  readonly bytes: number;
}

export interface MessageLimits {
  readonly maxEventBytes?: number;
  readonly maxAnswerBytes?: number;
}

/** Puts itself between a pipe and those who listen to it. `commands` is the pipe of the other direction. */
export function boundMessages(
  messages: Readable,
  commands: Writable,
  onDropped: (dropped: Dropped) => void,
  { maxEventBytes = MAX_EVENT_BYTES, maxAnswerBytes = MAX_ANSWER_BYTES }: MessageLimits = {},
): void {
  const listeners = messages.listeners('data') as ((chunk: Buffer) => void)[];
  const pass = (chunk: Buffer) => {
    for (const listener of listeners) listener(chunk);
  };
  let held: Buffer[] = [];
  let bytes = 0;
  let long: { readonly head: string; tail: string } | undefined;
  let ownId = FIRST_OWN_ID;

  const take = (piece: Buffer) => {
    bytes += piece.length;
    if (long) {
      long.tail = (long.tail + piece.subarray(-KEPT_BYTES).toString('latin1')).slice(-KEPT_BYTES);
      return;
    }
    held.push(piece);
    if (bytes <= maxEventBytes) return;
    const head = startOf(held);
    if (isAnswer(head) && bytes <= maxAnswerBytes) return;
    long = { head, tail: piece.subarray(-KEPT_BYTES).toString('latin1') };
    held = [];
  };

  const end = () => {
    if (!long) {
      if (isHeard(startOf(held))) pass(held.length === 1 ? held[0]! : Buffer.concat(held));
    } else {
      const { head, tail } = long;
      const answer = replacement(head, tail);
      if (answer !== undefined) pass(Buffer.from(`${answer}\0`));
      const command = refusal(head, tail, ownId);
      if (command !== undefined) {
        ownId++;
        commands.write(`${command}\0`);
      }
      const what = methodOf(head) ?? 'answer';
      if (!UNHEARD.has(what)) onDropped({ what, bytes });
    }
    held = [];
    bytes = 0;
    long = undefined;
  };

  messages.on('data', (chunk: Buffer) => {
    for (let start = 0; start < chunk.length; ) {
      const zero = chunk.indexOf(0, start);
      const next = zero < 0 ? chunk.length : zero + 1;
      take(chunk.subarray(start, next));
      if (zero >= 0) end();
      start = next;
    }
  });
  for (const listener of listeners) messages.off('data', listener);
}

/**
 * The pipes of a browser that is started while `work` runs. Playwright does not give out the process that it starts, but
 * Node tells of each (channel `child_process`).
 */
export async function catchPipes<T>(
  work: () => Promise<T>,
): Promise<{ result: T; pipesOf(pid: number): Pipes | undefined }> {
  const started: Started[] = [];
  const heard = (message: unknown) => void started.push((message as { process: Started }).process);
  diagnostics.subscribe('child_process', heard);
  try {
    const result = await work();
    return {
      result,
      pipesOf(pid) {
        const browsers = started.filter(({ spawnargs = [] }) => spawnargs.includes('--remote-debugging-pipe'));
        // A script that starts the browser has another number.
        const [, , , commands, messages] =
          (browsers.find((child) => child.pid === pid) ?? browsers.at(-1))?.stdio ?? [];
        return messages && commands ? { messages: messages as Readable, commands: commands as Writable } : undefined;
      },
    };
  } finally {
    diagnostics.unsubscribe('child_process', heard);
  }
}

interface Started {
  readonly pid?: number;
  readonly spawnargs?: readonly string[];
  readonly stdio?: readonly unknown[];
}

interface Pipes {
  readonly messages: Readable;
  readonly commands: Writable;
}

const startOf = (pieces: readonly Buffer[]): string => {
  const [first, second] = pieces;
  const start = second && first!.length < KEPT_BYTES ? Buffer.concat(pieces) : first!;
  return start.subarray(0, KEPT_BYTES).toString('latin1');
};

const isAnswer = (head: string) => head.startsWith('{"id":');
const idOf = (head: string) => /^\{"id":(\d+),/.exec(head)?.[1];
const methodOf = (head: string) => /^\{"method":"([\w.]+)"/.exec(head)?.[1];

/** Not what we need no word of, and not the answers to our own commands, which Playwright did not give. */
const isHeard = (head: string) => !UNHEARD.has(methodOf(head) ?? '') && Number(idOf(head) ?? 0) < FIRST_OWN_ID;

const sessionIn = (tail: string) => /,"sessionId":"(\w+)"\}\0?$/.exec(tail)?.[1];

/** The error that stands for an answer that is too long. */
function replacement(head: string, tail: string): string | undefined {
  const id = idOf(head);
  if (id === undefined) return undefined;
  const sessionId = sessionIn(tail);
  const error = { code: -32000, message: 'The answer of the browser is too long' };
  return JSON.stringify({ id: Number(id), error, ...(sessionId && { sessionId }) });
}

/** A request that waits for a word on it gets one: nobody hears of it any more. */
function refusal(head: string, tail: string, id: number): string | undefined {
  const requestId = /^\{"method":"Fetch\.requestPaused","params":\{"requestId":"([\w.-]+)"/.exec(head)?.[1];
  const sessionId = sessionIn(tail);
  if (requestId === undefined || sessionId === undefined) return undefined;
  const params = { requestId, errorReason: 'BlockedByClient' };
  return JSON.stringify({ id, method: 'Fetch.failRequest', params, sessionId });
}
