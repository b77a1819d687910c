/**
 * An API whose routes are created when its first request arrives. A server can then listen without loading the code of
 * APIs that nobody uses.
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { Problem } from '#errors.ts';
import type { Log } from '#telemetry/log.ts';
import { asHttpProblem, createServer, type Face, type ServerOptions } from './server.ts';

type Upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer) => void;

export interface LazyFace {
  readonly server: Server;
  routing(request: IncomingMessage, response: ServerResponse): void;
  /** Set if it takes upgrades. */
  readonly upgrade?: Upgrade;
  close(): Promise<void>;
}

export interface LazyFaceOptions {
  /** Options of the server that listens, apart from those of its routes. */
  readonly server: Omit<ServerOptions, 'writeError' | 'paths' | 'observe'>;
  /**
   * Whether the API handles the `upgrade` events of the server. Without a listener, Node serves such a request as if it
   * asked for no upgrade.
   */
  readonly takesUpgrades?: boolean;
  /** Creates the API. It must be ready; its own server never listens. Called again after a failure. */
  readonly open: () => Promise<OpenedFace>;
}

export interface OpenedFace {
  readonly face: Face;
  /** Handles the `upgrade` events of the server. */
  readonly upgrade?: Upgrade;
  /** Called when the API begins to close, before its requests have ended. */
  readonly beforeClose?: () => void;
}

export async function createLazyFace({ server: options, takesUpgrades, open }: LazyFaceOptions): Promise<LazyFace> {
  const shell = await createServer({ ...options, writeError: (failure) => failure });
  let opening: Promise<OpenedFace> | undefined;
  let opened: OpenedFace | undefined;
  const openOnce = () => {
    opening ??= open().then(
      (made) => (opened = made),
      (error: unknown) => {
        opening = undefined;
        throw error;
      },
    );
    return opening;
  };
  shell.addHook('preClose', async () => (await opening?.catch(() => undefined))?.beforeClose?.());
  // Runs after the last request has ended.
  shell.addHook('onClose', async () => (await opening?.catch(() => undefined))?.face.close());
  await shell.ready();

  const routing = (request: IncomingMessage, response: ServerResponse): void => {
    if (opened) return void opened.face.routing(request, response);
    openOnce().then(
      ({ face }) => face.routing(request, response),
      (error: unknown) => refuse(response, failureOf(error, options.log), options.malformedBody),
    );
  };
  const upgrade: Upgrade = (request, socket, head) => {
    if (opened) return void opened.upgrade!(request, socket, head);
    const onError = () => socket.destroy();
    socket.on('error', onError);
    openOnce().then(
      (made) => {
        socket.off('error', onError);
        made.upgrade!(request, socket, head);
      },
      (error: unknown) => {
        failureOf(error, options.log);
        socket.destroy();
      },
    );
  };
  shell.server.removeAllListeners('request').on('request', routing);
  if (takesUpgrades) shell.server.on('upgrade', upgrade);
  return {
    server: shell.server,
    routing,
    ...(takesUpgrades && { upgrade }),
    close: async () => void (await shell.close()),
  };
}

function failureOf(error: unknown, log: Log): Problem {
  const failure = asHttpProblem(error);
  log.error({ err: failure.cause ?? failure }, 'an API could not be opened');
  return failure;
}

function refuse(response: ServerResponse, failure: Problem, body: ServerOptions['malformedBody']): void {
  response.writeHead(failure.code, { 'content-type': 'application/json; charset=utf-8' });
  response.end(JSON.stringify(body(failure)));
}
