/**
 * One connection of a server to a browser of `lectern browser-worker`: passes DevTools messages in both directions and
 * counts the open contexts. A draining connection opens no more contexts, so that the server uses another browser for
 * its next reads, and is closed when the last context is.
 */
import WebSocket from 'ws';

export interface Bridge {
  /** Number of open contexts. */
  contexts(): number;
  drain(): void;
  /** Resolves when the connection is closed. */
  readonly closed: Promise<void>;
  end(): void;
}

export interface BridgeParts {
  /** The connection of the server, which is open. */
  readonly server: WebSocket;
  /** URL of the browser's DevTools port. */
  readonly devtoolsUrl: string;
  readonly onContext: () => void;
}

/** The longest messages are screenshots of whole pages, in base64. */
export const MAX_MESSAGE_BYTES = 256 * 1024 * 1024;
/** Unsent bytes at which the other side is paused. */
const MAX_BUFFERED_BYTES = 16 * 1024 * 1024;
/** WebSocket close code (RFC 6455, section 7.4.1): going away. */
const GOING_AWAY = 1001;
/** Playwright writes the id and the method first. */
const COMMAND = /^\{"id":(\d+),"method":"Target\.(createBrowserContext|disposeBrowserContext)"/;
/** Bytes of a message that are searched for the command. */
const HEAD_BYTES = 100;

export function openBridge({ server, devtoolsUrl, onContext }: BridgeParts): Bridge {
  const browser = new WebSocket(devtoolsUrl, { perMessageDeflate: false, maxPayload: MAX_MESSAGE_BYTES });
  const early: Buffer[] = [];
  let contexts = 0;
  let draining = false;

  const end = () => {
    server.close(GOING_AWAY);
    browser.terminate();
  };
  /** Answers a refused command. Returns whether the message may pass. */
  const mayPass = (message: Buffer): boolean => {
    const [, id, command] = COMMAND.exec(message.subarray(0, HEAD_BYTES).toString('latin1')) ?? [];
    if (command === 'disposeBrowserContext') contexts = Math.max(contexts - 1, 0);
    if (command !== 'createBrowserContext') return true;
    if (draining) {
      server.send(JSON.stringify({ id: Number(id), error: { code: -32000, message: 'The browser is draining' } }));
      return false;
    }
    contexts++;
    onContext();
    return true;
  };

  server.on('message', (message: Buffer) => {
    if (!mayPass(message)) return;
    if (browser.readyState === WebSocket.CONNECTING) early.push(message);
    else pass(message, server, browser);
  });
  browser.on('open', () => {
    for (const message of early.splice(0)) pass(message, server, browser);
  });
  browser.on('message', (message: Buffer) => {
    pass(message, browser, server);
    if (draining && contexts === 0) end();
  });
  // A failed connection is closed after its error.
  for (const socket of [server, browser]) socket.on('error', () => {}).on('close', end);
  return {
    contexts: () => contexts,
    drain() {
      draining = true;
      if (contexts === 0) end();
    },
    closed: new Promise((resolve) => server.on('close', () => resolve())),
    end,
  };
}

/** DevTools messages are text. The sender is paused while the receiver is slow. */
function pass(message: Buffer, from: WebSocket, to: WebSocket): void {
  if (to.readyState !== WebSocket.OPEN) return;
  to.send(message, { binary: false }, () => {
    if (from.isPaused && to.bufferedAmount < MAX_BUFFERED_BYTES) from.resume();
  });
  if (to.bufferedAmount > MAX_BUFFERED_BYTES) from.pause();
}
