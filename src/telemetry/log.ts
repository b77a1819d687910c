/** Structured logs: one JSON line for each event, with the request id. Secrets are redacted. */
import pino, { type Logger } from 'pino';

export type Log = Logger;

/** Header and field names whose values are redacted. */
const SECRET = ['authorization', 'cookie', 'set-cookie', 'x-set-cookie', 'proxyUrl', 'key', 'password'];

/** Logs to standard output, to standard error (for commands that print results), or to a file descriptor. */
export const createLog = (level: string, to: 'stdout' | 'stderr' | number = 'stdout'): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[secret]' },
    },
    pino.destination({ dest: to === 'stdout' ? 1 : to === 'stderr' ? 2 : to, sync: true }),
  );
