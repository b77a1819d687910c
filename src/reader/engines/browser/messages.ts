/**
 * Limits the size of messages on a browser's DevTools pipe or connection. A page controls the length of some messages: a request is
 * reported with its body, a console line with its text. Playwright turns each message into one string, and a message
 * beyond V8's maximum string length would crash the process.
 */
import diagnostics from 'node:diagnostics_channel';
import type { Readable, Writable } from 'node:stream';

/**
 * Events that are not used, and that a page can send without limit. Do not use Playwright's `page.setContent`: it waits
 * for `Runtime.consoleAPICalled`, so it never ends with this browser.
 */
const IGNORED = new Set([
  'Log.entryAdded',
  'Network.eventSourceMessageReceived',
  'Network.webSocketFrameReceived',
  'Network.webSocketFrameSent',
  'Runtime.consoleAPICalled',
  'Runtime.exceptionThrown',
]);
/** Longer events are dropped. The relevant ones are a few KB, except for requests with large bodies. */
const MAX_EVENT_BYTES = 8 * 1024 * 1024;
/** Longer responses are replaced by an error. The longest are screenshots of whole pages, in base64. */
const MAX_RESPONSE_BYTES = 192 * 1024 * 1024;
/** Bytes kept from the start and end of a dropped message, to identify it. */
const EXCERPT_BYTES = 512;
/** First id of the commands that this module sends: far above the ids of Playwright, which counts from 1. */
export const FIRST_OWN_ID = 2_000_000_000;

export interface DroppedMessage {
  /** Name of the event, or `answer` for a response. */
  readonly what: string;
  readonly bytes: number;
}

export interface MessageLimits {
  readonly maxEventBytes?: number;
  readonly maxResponseBytes?: number;
}

/** Inserts the limit between a pipe and its listeners. `commands` is the pipe in the other direction. */
export function limitMessages(
  messages: Readable,
  commands: Writable,
  onDropped: (dropped: DroppedMessage) => void,
  { maxEventBytes = MAX_EVENT_BYTES, maxResponseBytes = MAX_RESPONSE_BYTES }: MessageLimits = {},
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
      long.tail = (long.tail + piece.subarray(-EXCERPT_BYTES).toString('latin1')).slice(-EXCERPT_BYTES);
      return;
    }
    held.push(piece);
    if (bytes <= maxEventBytes) return;
    const head = startOf(held);
    if (isResponse(head) && bytes <= maxResponseBytes) return;
    long = { head, tail: piece.subarray(-EXCERPT_BYTES).toString('latin1') };
    held = [];
  };

  const end = () => {
    if (!long) {
      if (isWanted(startOf(held))) pass(held.length === 1 ? held[0]! : Buffer.concat(held));
    } else {
      const { head, tail } = long;
      const error = errorFor(head, tail);
      if (error !== undefined) pass(Buffer.from(`${error}\0`));
      const command = failCommand(head, tail, ownId);
      if (command !== undefined) {
        ownId++;
        commands.write(`${command}\0`);
      }
      const what = methodOf(head) ?? 'answer';
      if (!IGNORED.has(what)) onDropped({ what, bytes });
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

export interface CheckedMessage {
  /** The message to pass on: the given one, or an error in its place; `undefined` if there is none. */
  readonly message: Buffer | undefined;
  /** A command to send to the browser, with the given id. */
  readonly command?: string | undefined;
  /** Set if a message that might have been needed was dropped. */
  readonly dropped?: DroppedMessage;
}

/** Applies the same limits to a complete message, for connections that deliver no parts. */
export function checkMessage(message: Buffer, ownId: number): CheckedMessage {
  const head = message.subarray(0, EXCERPT_BYTES).toString('latin1');
  if (!isWanted(head)) return { message: undefined };
  const bytes = message.length;
  if (bytes <= (isResponse(head) ? MAX_RESPONSE_BYTES : MAX_EVENT_BYTES)) return { message };
  const tail = message.subarray(-EXCERPT_BYTES).toString('latin1');
  const error = errorFor(head, tail);
  return {
    message: error === undefined ? undefined : Buffer.from(error),
    command: failCommand(head, tail, ownId),
    dropped: { what: methodOf(head) ?? 'answer', bytes },
  };
}

/**
 * Finds the pipes of a browser that is launched during `work`. Playwright does not expose the process, but Node reports
 * each one (channel `child_process`).
 */
export async function capturePipes<T>(
  work: () => Promise<T>,
): Promise<{ result: T; pipesOf(pid: number): Pipes | undefined }> {
  const started: Started[] = [];
  const onProcess = (message: unknown) => void started.push((message as { process: Started }).process);
  diagnostics.subscribe('child_process', onProcess);
  try {
    const result = await work();
    return {
      result,
      pipesOf(pid) {
        const browsers = started.filter(({ spawnargs = [] }) => spawnargs.includes('--remote-debugging-pipe'));
        // If the browser is launched through a script, its PID differs.
        const [, , , commands, messages] =
          (browsers.find((child) => child.pid === pid) ?? browsers.at(-1))?.stdio ?? [];
        return messages && commands ? { messages: messages as Readable, commands: commands as Writable } : undefined;
      },
    };
  } finally {
    diagnostics.unsubscribe('child_process', onProcess);
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
  const start = second && first!.length < EXCERPT_BYTES ? Buffer.concat(pieces) : first!;
  return start.subarray(0, EXCERPT_BYTES).toString('latin1');
};

const isResponse = (head: string) => head.startsWith('{"id":');
const idOf = (head: string) => /^\{"id":(\d+),/.exec(head)?.[1];
const methodOf = (head: string) => /^\{"method":"([\w.]+)"/.exec(head)?.[1];

/** True if the message is neither an ignored event nor the response to a command of this module. */
const isWanted = (head: string) => !IGNORED.has(methodOf(head) ?? '') && Number(idOf(head) ?? 0) < FIRST_OWN_ID;

const sessionIn = (tail: string) => /,"sessionId":"(\w+)"\}\0?$/.exec(tail)?.[1];

/** The error that replaces a response that is too long. */
function errorFor(head: string, tail: string): string | undefined {
  const id = idOf(head);
  if (id === undefined) return undefined;
  const sessionId = sessionIn(tail);
  const error = { code: -32000, message: 'The response from the browser is too long' };
  return JSON.stringify({ id: Number(id), error, ...(sessionId && { sessionId }) });
}

/** Fails a paused request if its event was dropped: Playwright does not know of the request and cannot continue it. */
function failCommand(head: string, tail: string, id: number): string | undefined {
  const requestId = /^\{"method":"Fetch\.requestPaused","params":\{"requestId":"([\w.-]+)"/.exec(head)?.[1];
  const sessionId = sessionIn(tail);
  if (requestId === undefined || sessionId === undefined) return undefined;
  const params = { requestId, errorReason: 'BlockedByClient' };
  return JSON.stringify({ id, method: 'Fetch.failRequest', params, sessionId });
}
