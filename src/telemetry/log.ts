/**
 * Structured logs: one JSON line for each event, with the request id, or readable lines on a terminal. Secrets are
 * redacted.
 */
import { isatty } from 'node:tty';
import pino, { type Logger } from 'pino';
import { type LogFormat, textOfEntry } from './log-text.ts';

export type Log = Logger;

/** Header and field names whose values are redacted. */
const SECRET = ['authorization', 'cookie', 'set-cookie', 'x-set-cookie', 'proxyUrl', 'key', 'password'];

/** Logs to standard output, to standard error (for commands that print results), or to a file descriptor. */
export function createLog(level: string, to: 'stdout' | 'stderr' | number = 'stdout', format: LogFormat = 'json'): Log {
  const fd = to === 'stdout' ? 1 : to === 'stderr' ? 2 : to;
  const isTerminal = isatty(fd);
  const isText = format === 'text' || (format === 'auto' && isTerminal);
  const destination = pino.destination({ dest: fd, sync: true });
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[secret]' },
    },
    isText
      ? { write: (line) => void destination.write(`${textOfEntry(line, { coloured: isTerminal })}\n`) }
      : destination,
  );
}
