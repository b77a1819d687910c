/** Describes errors of the operating system in words: which file, folder or server, and why. */
import { ownValue } from '#own-value.ts';

const ACTIONS: Readonly<Record<string, string>> = {
  mkdir: 'cannot create the folder',
  mkdtemp: 'cannot create a folder in',
  open: 'cannot open',
  copyfile: 'cannot copy',
  rename: 'cannot write',
  write: 'cannot write',
  rm: 'cannot remove',
  unlink: 'cannot remove',
  scandir: 'cannot list the folder',
};

const REASONS: Readonly<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'the system does not allow it',
  ENOENT: 'there is no such file or folder',
  ENOTDIR: 'a part of the path is a file, not a folder',
  EEXIST: 'there is a file with this name',
  EISDIR: 'it is a folder',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EMFILE: 'too many files are open (see `ulimit -n`)',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its symbolic links form a loop',
};

/** Returns undefined for other errors. */
export function describeSystemError(error: unknown): string | undefined {
  const { code, syscall, path } = error as NodeJS.ErrnoException;
  const reason = ownValue(REASONS, String(code));
  if (typeof path !== 'string' || reason === undefined) return undefined;
  return `${ownValue(ACTIONS, String(syscall)) ?? 'cannot use'} ${path}: ${reason}`;
}

const CONNECTION_REASONS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused; is the server running?',
  ECONNRESET: 'the connection was closed',
  EHOSTUNREACH: 'the host cannot be reached',
  ENETUNREACH: 'the network cannot be reached',
  ENOTFOUND: 'there is no such host',
  EAI_AGAIN: 'the host name could not be resolved',
  ETIMEDOUT: 'there was no answer in time',
  UND_ERR_CONNECT_TIMEOUT: 'there was no answer in time',
};
const MAX_CAUSES = 5;

/** Why a connection failed, from the code of the error or of one of its causes; `undefined` for other errors. */
export function connectionReason(error: unknown): string | undefined {
  let cause = error;
  for (let depth = 0; cause instanceof Error && depth < MAX_CAUSES; depth++, cause = cause.cause) {
    // gRPC has the code in its text only.
    const codes = [(cause as NodeJS.ErrnoException).code, /\bE[A-Z]{5,}\b/.exec(cause.message)?.[0]];
    const reason = codes.map((code) => ownValue(CONNECTION_REASONS, String(code))).find(Boolean);
    if (reason) return reason;
  }
  return undefined;
}
