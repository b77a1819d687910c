/**
 * Credentials of browsers on other machines at the egress proxy: one user name and password for each read. They become
 * invalid when the read ends, at the latest after a fixed time, and their connections are closed then.
 */
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { Socket } from 'node:net';
import type { EgressRequest } from './egress-proxy.ts';

export interface GrantOptions {
  /**
   * HTML with which the proxy itself responds to every plain request of this user name; tunnels are refused. It shows
   * whether a browser uses the proxy, without contacting any target. Default: requests are sent to their targets.
   */
  readonly answer?: string;
  /** Called for each request and tunnel of this user name. */
  readonly onRequest?: (request: EgressRequest) => void;
}

export interface Grant {
  readonly password: string;
  /** Makes the credentials invalid and closes their connections. */
  revoke(): void;
}

export interface Grants {
  grant(username: string, options?: GrantOptions): Grant;
  /** Returns the options of a grant if the credentials are valid. */
  find(username: string, password: string): GrantOptions | undefined;
  /** Assigns a connection of a client to the user name whose credentials it has sent. */
  connect(username: string, client: Socket): void;
}

interface Granted extends GrantOptions {
  readonly secret: Buffer;
  readonly clients: Set<Socket>;
}

export function createGrants(maxAgeMs: number): Grants {
  const granted = new Map<string, Granted>();
  return {
    grant(username, options = {}) {
      const password = randomBytes(24).toString('base64url');
      const entry: Granted = { ...options, secret: Buffer.from(password), clients: new Set() };
      granted.set(username, entry);
      const revoke = () => {
        clearTimeout(age);
        if (granted.get(username) === entry) granted.delete(username);
        for (const client of entry.clients) client.destroy();
      };
      const age = setTimeout(revoke, maxAgeMs).unref();
      return { password, revoke };
    },
    find(username, password) {
      const entry = granted.get(username);
      const guess = Buffer.from(password);
      // All passwords have the same length, so comparing the lengths reveals nothing.
      return entry && guess.length === entry.secret.length && timingSafeEqual(guess, entry.secret) ? entry : undefined;
    },
    connect(username, client) {
      const clients = granted.get(username)?.clients;
      if (!clients || clients.has(client)) return;
      clients.add(client);
      client.once('close', () => clients.delete(client));
    },
  };
}
