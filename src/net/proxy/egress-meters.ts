/** Counts the traffic of each user name of the egress proxy, in both directions, and can block user names. */
import type { Socket } from 'node:net';

export interface Meter {
  /** Bytes sent and received so far on all connections, including closed ones. */
  bytes(): number;
  /** Adds traffic of this user name that did not pass through the proxy. */
  add(bytes: number): void;
  /** Closes all connections of the user name and rejects new ones. */
  block(): void;
  /** Stops counting. */
  close(): void;
}

export interface Meters {
  /** Starts counting. Calls `onChange` with the total after it has changed, at most ten times a second. */
  open(username: string, onChange: (bytes: number) => void): Meter;
  /** Adds a connection. Throws if the user name is blocked. */
  connect(username: string, socket: Socket): void;
}

/** Traffic is sampled, because Node's HTTP parser reads sockets without emitting `data` events. */
const SAMPLE_MS = 100;

interface Account {
  readonly sockets: Set<Socket>;
  closedBytes: number;
  isBlocked: boolean;
}

export function createMeters(): Meters {
  const accounts = new Map<string, Account>();
  return {
    open(username, onChange) {
      const account: Account = { sockets: new Set(), closedBytes: 0, isBlocked: false };
      accounts.set(username, account);
      const bytes = () => [...account.sockets].reduce((sum, socket) => sum + traffic(socket), account.closedBytes);
      let last = 0;
      const timer = setInterval(() => {
        const now = bytes();
        if (now === last) return;
        last = now;
        onChange(now);
      }, SAMPLE_MS).unref();
      return {
        bytes,
        add(more) {
          account.closedBytes += more;
        },
        block() {
          account.isBlocked = true;
          for (const socket of account.sockets) socket.destroy();
        },
        close() {
          clearInterval(timer);
          accounts.delete(username);
        },
      };
    },
    connect(username, socket) {
      const account = accounts.get(username);
      if (!account) return;
      if (account.isBlocked) {
        socket.destroy();
        throw new Error('This user name is blocked');
      }
      account.sockets.add(socket);
      socket.once('close', () => {
        account.closedBytes += traffic(socket);
        account.sockets.delete(socket);
      });
    },
  };
}

const traffic = ({ bytesRead, bytesWritten }: Socket): number => bytesRead + bytesWritten;
