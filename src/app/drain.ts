/** Closes all servers of a program that is shutting down. Requests in flight may finish; new ones are refused. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DeadlineExceededError, within } from '#concurrency/deadline.ts';
import { closeOtherAddresses } from '#http/open-server.ts';
import type { UnusedConnections } from '#http/unused-connections.ts';
import type { Servers } from './listen.ts';

/** The interval at which idle connections are closed during draining. */
const CLOSE_IDLE_MS = 50;

/** All HTTP servers except that of the flow, which closes its own server. */
export const httpServers = ({ faces, eu, admin, metricsServer, hostServer }: Servers): Server[] =>
  [
    ...Object.values({ ...faces, ...euServers(eu) }).map((face) => face.server),
    admin?.server,
    hostServer,
    metricsServer,
  ].filter((server) => server !== undefined);

/**
 * Waits until load balancers have noticed that `/ready` returns 503. Requests are still accepted, but each connection
 * is closed after its response, so that clients do not reuse it.
 */
export async function waitForLoadBalancers(servers: Servers, delayMs: number): Promise<void> {
  if (delayMs === 0) return;
  const closeAfterwards = (_: IncomingMessage, response: ServerResponse) => response.setHeader('connection', 'close');
  for (const server of httpServers(servers)) server.prependListener('request', closeAfterwards);
  await sleep(delayMs);
}

/** Accepts no more requests, gives those in flight at most `drainMs` to finish, and then closes all connections. */
export async function drain(all: Servers, unused: readonly UnusedConnections[], drainMs: number): Promise<void> {
  const { faces, eu, flow, admin, metricsServer, hostServer } = all;
  const closable = [...Object.values({ ...faces, ...euServers(eu) }), ...(admin ? [admin] : [])];
  const bare = [hostServer, metricsServer].filter((server) => server !== undefined);
  const servers = httpServers(all);
  for (const server of servers) closeOtherAddresses(server);
  // Clients keep connections alive after their last response, so connections are closed as soon as they are idle.
  const closingIdle = setInterval(() => {
    for (const server of servers) server.closeIdleConnections();
    for (const connections of unused) connections.close();
  }, CLOSE_IDLE_MS);
  const closing = Promise.all([
    ...closable.map((face) => face.close()),
    flow.close(drainMs),
    ...bare.map((server) => new Promise((done) => (server.listening ? server.close(done) : done(undefined)))),
  ]);
  await within(drainMs, closing).catch((error: unknown) => {
    if (!(error instanceof DeadlineExceededError)) throw error;
  });
  clearInterval(closingIdle);
  for (const server of servers) server.closeAllConnections();
}

const euServers = (eu: Servers['eu']) => (eu ? { euReader: eu.reader, euSearch: eu.search } : {});
