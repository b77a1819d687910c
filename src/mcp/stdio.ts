/** MCP over standard input and output, for the one client that started this process. */
import type { Readable, Writable } from 'node:stream';
import { StdioServerTransport, serveStdio } from '@modelcontextprotocol/server/stdio';
import type { Client } from '#client/index.ts';
import type { LocalFiles } from './local-files.ts';
import { createRecentPageStore } from './recent.ts';
import { createMcpServer } from './server.ts';

export interface StdioOptions {
  readonly version: string;
  /**
   * Called for each request. Opens the client on the first request, because many servers are started but never used.
   */
  readonly client: () => Promise<Client>;
  readonly files?: LocalFiles | undefined;
  readonly input: Readable;
  readonly output: Writable;
  readonly onError: (error: unknown) => void;
  /** Stops serving when aborted. */
  readonly signal: AbortSignal;
}

/** Large enough for a base64-encoded document. */
const MAX_LINE_BYTES = 150_000_000;

/** Serves until the client disconnects or the signal is aborted; then cancels unfinished calls. */
export async function serveOverStdio(options: StdioOptions): Promise<void> {
  const { client, input, output, onError, signal } = options;
  const recent = createRecentPageStore().open();
  const resolveCaller = async () => ({ client: await client(), recent });
  const transport = new StdioServerTransport(input, output, { maxBufferSize: MAX_LINE_BYTES });
  const closed = new Promise<void>((resolve) => {
    for (const event of ['end', 'close', 'error']) input.once(event, () => resolve());
    output.once('error', () => resolve());
    signal.addEventListener('abort', () => resolve(), { once: true });
    if (signal.aborted) resolve();
  });
  const handle = serveStdio(() => createMcpServer({ ...options, resolveCaller }), { transport, onerror: onError });
  await closed;
  await handle.close();
}
