/**
 * A DevTools connection to a browser on another machine, as Playwright needs it. Messages that a page has made too large
 * are dropped before they are converted to text (`messages.ts`).
 */
import { get as httpGet } from 'node:http';
import { get as httpsGet } from 'node:https';
import type { ConnectOverCDPTransport } from 'playwright-core';
import WebSocket from 'ws';
import { checkMessage, type DroppedMessage, FIRST_OWN_ID } from '../messages.ts';

export interface DevtoolsOptions {
  readonly headers: Readonly<Record<string, string>>;
  readonly timeoutMs: number;
  readonly onDropped: (dropped: DroppedMessage) => void;
}

/** A longer message ends the connection. Responses of 192 MB pass, with what they are wrapped in. */
const MAX_PAYLOAD_BYTES = 256 * 1024 * 1024;
const MAX_VERSION_BYTES = 64 * 1024;

/** Connects to `ws://` URLs directly, and asks `http://` URLs for theirs. */
export async function openDevtools(url: string, options: DevtoolsOptions): Promise<ConnectOverCDPTransport> {
  const { headers, timeoutMs, onDropped } = options;
  const target = url.startsWith('ws') ? url : await webSocketUrl(url, options);
  const socket = new WebSocket(target, {
    headers,
    handshakeTimeout: timeoutMs,
    maxPayload: MAX_PAYLOAD_BYTES,
    perMessageDeflate: false,
  });
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve).once('error', reject);
  });
  let ownId = FIRST_OWN_ID;
  const transport: ConnectOverCDPTransport = {
    send: (message) => socket.send(JSON.stringify(message)),
    close: () => socket.close(),
  };
  socket.on('message', (given: Buffer) => {
    const { message, command, dropped } = checkMessage(given, ownId);
    if (dropped) onDropped(dropped);
    if (command !== undefined) {
      ownId++;
      socket.send(command);
    }
    if (!message) return;
    const parsed = JSON.parse(message.toString('utf8')) as object;
    // Playwright expects that nothing else runs between two messages than what the first one has caused.
    setImmediate(() => transport.onmessage?.(parsed));
  });
  // An error is followed by `close`.
  socket.on('error', () => {});
  socket.on('close', () => transport.onclose?.('the connection was closed'));
  return transport;
}

/** Asks a DevTools endpoint for the WebSocket URL of the browser. */
async function webSocketUrl(url: string, { headers, timeoutMs }: DevtoolsOptions): Promise<string> {
  const endpoint = new URL(url);
  endpoint.pathname = `${endpoint.pathname.replace(/\/$/, '')}/json/version`;
  const get = endpoint.protocol === 'https:' ? httpsGet : httpGet;
  const text = await new Promise<string>((resolve, reject) => {
    const request = get(endpoint, { headers, signal: AbortSignal.timeout(timeoutMs), agent: false }, (response) => {
      if (response.statusCode !== 200) {
        response.resume();
        return reject(new Error(`Unexpected status ${response.statusCode}`));
      }
      let body = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        body += chunk;
        if (body.length > MAX_VERSION_BYTES) request.destroy(new Error('The response is too long'));
      });
      response.on('end', () => resolve(body)).on('error', reject);
    });
    request.on('error', reject);
  });
  const { webSocketDebuggerUrl } = JSON.parse(text) as { readonly webSocketDebuggerUrl?: unknown };
  if (typeof webSocketDebuggerUrl !== 'string') throw new Error('The response names no WebSocket URL');
  return webSocketDebuggerUrl;
}
