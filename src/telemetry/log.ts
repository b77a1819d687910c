/** Structured logs: one JSON line an event, the request's id on each, secrets never. */
import pino, { type Logger } from 'pino';

export type Log = Logger;

/** Header and field names whose values must not be written down. */
const SECRET = ['authorization', 'cookie', 'set-cookie', 'x-set-cookie', 'proxyUrl', 'key', 'password'];

/** To the standard output, or to the standard error for programs whose output is something else. */
export const createLog = (level: string, to: 'stdout' | 'stderr' = 'stdout'): Log =>
  pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: { paths: SECRET.flatMap((name) => [`["${name}"]`, `*["${name}"]`]), censor: '[secret]' },
    },
    pino.destination({ dest: to === 'stdout' ? 1 : 2, sync: true }),
  );
