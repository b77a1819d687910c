/**
 * Forwards the output of an executor's process to the server's log. Output over the limit is read slowly, so
 * back-pressure slows the process down instead of the server.
 */
import type { Readable } from 'node:stream';
import { StringDecoder } from 'node:string_decoder';
import type { Log } from '#telemetry/log.ts';

const WINDOW_MS = 1000;
/** Maximum number of bytes read from each stream in one window; the rest waits for the next window. */
const MAX_BYTES = 256 * 1024;
/** Maximum number of lines logged from all streams in one window; further lines are counted and dropped. */
const MAX_LINES = 500;
const MAX_LINE_LENGTH = 16_384;
/** Number of characters of standard error that are retained, to explain why the process ended. */
const MAX_ERROR_LENGTH = 4096;

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const;

export interface ExecutorStreams {
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Log lines written by the executor's logger. */
  readonly log: Readable;
}

export interface Output {
  /** The end of standard error output. */
  lastErrors(): string;
  /** Resolves when all streams have ended. */
  readonly ended: Promise<unknown>;
}

export function forwardOutput({ stdout, stderr, log: logged }: ExecutorStreams, name: string, log: Log): Output {
  let lines = 0;
  let lastErrors = '';
  let timer: NodeJS.Timeout | undefined;
  const resumes: (() => void)[] = [];

  function endWindow(): void {
    timer = undefined;
    if (lines > MAX_LINES) {
      const facts = { executor: name, lines: lines - MAX_LINES };
      log.warn(facts, `an executor writes more than ${MAX_LINES} lines a second: dropped the others`);
    }
    lines = 0;
    for (const restart of resumes) restart();
  }

  function forward(stream: Readable, write: (line: string) => void): Promise<unknown> {
    const decoder = new StringDecoder('utf8');
    let rest = '';
    let bytes = 0;
    const logLines = (text: string) => {
      const parts = text.split('\n');
      parts[0] = rest + parts[0]!;
      rest = parts.pop()!.slice(0, MAX_LINE_LENGTH);
      for (const line of parts) if (line && ++lines <= MAX_LINES) write(truncate(line));
    };
    stream.on('data', (chunk: Buffer) => {
      if (!timer) timer = setTimeout(endWindow, WINDOW_MS).unref();
      logLines(decoder.write(chunk));
      bytes += chunk.length;
      if (bytes >= MAX_BYTES) stream.pause();
    });
    resumes.push(() => {
      bytes = 0;
      stream.resume();
    });
    stream.on('error', () => {});
    return new Promise<void>((resolve) => {
      stream.once('close', () => {
        if (rest) logLines('\n');
        resolve();
      });
    });
  }

  return {
    lastErrors: () => lastErrors,
    ended: Promise.all([
      forward(stdout, (line) => log.info({ executor: name, stream: 'stdout' }, line)),
      forward(stderr, (line) => {
        lastErrors = `${lastErrors}${line}\n`.slice(-MAX_ERROR_LENGTH);
        log.warn({ executor: name, stream: 'stderr' }, line);
      }),
      forward(logged, (line) => logLine(log, name, line)),
    ]),
  };
}

const truncate = (line: string): string =>
  line.length > MAX_LINE_LENGTH ? `${line.slice(0, MAX_LINE_LENGTH)}…` : line;

/** Logs a line of the executor's logger again, at its own level. */
function logLine(log: Log, name: string, line: string): void {
  try {
    const { level, time: _, msg, ...facts } = JSON.parse(line) as Record<string, unknown>;
    const known = LEVELS.find((one) => one === level);
    if (known) {
      log[known]({ ...facts, executor: name }, typeof msg === 'string' ? msg : '');
      return;
    }
  } catch {
    // Not a log line: forward it unchanged.
  }
  log.warn({ executor: name }, line);
}
