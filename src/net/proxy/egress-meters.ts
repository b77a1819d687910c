/** Counts what each user name of the egress proxy moves over its connections, both ways, and cuts it off on demand. */
import type { Socket } from 'node:net';

export interface Meter {
  /** Bytes moved by all connections so far, of those that are closed too. */
  bytes(): number;
  /** Counts bytes that were moved for this user name by another way. */
  add(bytes: number): void;
  /** Closes every connection of the user name; new ones are refused. */
  cut(): void;
  /** Stops counting. */
  close(): void;
}

export interface Meters {
  /** `heard` is told the sum whenever it has changed, some ten times a second. */
  open(username: string, heard: (bytes: number) => void): Meter;
  /** Takes a connection in; throws when the user name was cut off. */
  connect(username: string, socket: Socket): void;
}

/** Counted now and then and not with each chunk: the parser of HTTP takes its bytes past the events of a socket. */
const SAMPLE_MS = 100;

interface Account {
  readonly sockets: Set<Socket>;
  closedBytes: number;
  isCut: boolean;
}

export function createMeters(): Meters {
  const accounts = new Map<string, Account>();
  return {
    open(username, heard) {
      const account: Account = { sockets: new Set(), closedBytes: 0, isCut: false };
      accounts.set(username, account);
      const bytes = () => [...account.sockets].reduce((sum, socket) => sum + moved(socket), account.closedBytes);
      let last = 0;
      const timer = setInterval(() => {
        const now = bytes();
        if (now === last) return;
        last = now;
        heard(now);
      }, SAMPLE_MS).unref();
      return {
        bytes,
        add(more) {
          account.closedBytes += more;
        },
        cut() {
          account.isCut = true;
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
      if (account.isCut) {
        socket.destroy();
        throw new Error('This user name was cut off');
      }
      account.sockets.add(socket);
      socket.once('close', () => {
        account.closedBytes += moved(socket);
        account.sockets.delete(socket);
      });
    },
  };
}

const moved = ({ bytesRead, bytesWritten }: Socket): number => bytesRead + bytesWritten;
