/** Structured logs: one JSON line an event, the request's id on each, secrets never. */
import pino, { type Logger } from 'pino';

export type Log = Logger;

/** Header and field names whose values must not be written down. */
const SECRET = ['authorization', 'cookie', 'set-cookie', 'x-set-cookie', 'proxyUrl', 'key', 'password'];

/** To the standard output, to the standard error for programs whose output is something else, or to a file descriptor. */
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
