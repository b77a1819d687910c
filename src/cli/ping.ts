/** `lectern ping`: checks whether a flow, gateway or executor is ready. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Argument, Command, Option } from 'commander';
import { usageError } from './exit-codes.ts';
import { parseInteger } from './numbers.ts';
import { connectionReason } from './system-errors.ts';

export interface PingContext {
  readonly print: (line: string) => void;
  readonly note: (line: string) => void;
}

interface PingFlags {
  readonly attempts: number;
  readonly timeout: number;
  readonly minSuccessfulAttempts: number;
}

const PAUSE_MS = 1000;
/** gRPC status code of a call cancelled by the client. */
const CANCELLED = 1;

export function pingCommand(context: PingContext): Command {
  return new Command('ping')
    .description('Check whether a flow, gateway or executor is ready.')
    .addArgument(new Argument('<what>', 'what to check').choices(['flow', 'executor', 'gateway']))
    .argument('<address>', 'HOST:PORT, optionally after grpc://, http:// or ws:// or their TLS forms; gRPC by default')
    .addOption(new Option('--attempts <count>', 'Number of attempts.').argParser(parseInteger).default(1))
    .addOption(new Option('--timeout <ms>', 'Timeout of one attempt.').argParser(parseInteger).default(3000))
    .addOption(
      new Option('--min-successful-attempts <count>', 'Number of attempts that must succeed.')
        .argParser(parseInteger)
        .default(1),
    )
    .exitOverride()
    .action((what: string, address: string, flags: PingFlags) => ping(context, what, targetOf(address), flags));
}

interface Target {
  readonly scheme: 'grpc' | 'http';
  readonly tls: boolean;
  readonly host: string;
  readonly port: number;
}

function targetOf(address: string): Target {
  const [, scheme = 'grpc', rest] = /^(?:(grpc|grpcs|http|https|ws|wss):\/\/)?(.*?)\/?$/i.exec(address) ?? [];
  const [, host, port] = /^(.+):(\d{1,5})$/.exec(rest ?? '') ?? [];
  if (!host || !port) throw usageError(`${address} is not HOST:PORT`);
  const name = scheme.toLowerCase();
  return {
    scheme: name.startsWith('grpc') ? 'grpc' : 'http',
    tls: name.endsWith('s') && name !== 'ws',
    host: host.replace(/^\[(.*)\]$/, '$1'),
    port: Number(port),
  };
}

async function ask(what: string, { scheme, ...target }: Target, timeoutMs: number): Promise<void> {
  const signal = AbortSignal.timeout(timeoutMs);
  const wholeFlow = what === 'flow';
  if (scheme === 'grpc') {
    const { pingGrpc } = await import('#flow/index.ts');
    return pingGrpc(target, { whole: wholeFlow, signal });
  }
  const { tls, host, port } = target;
  const name = host.includes(':') ? `[${host}]` : host;
  const response = await fetch(new URL(wholeFlow ? '/dry_run' : '/', `http${tls ? 's' : ''}://${name}:${port}`), {
    signal,
  });
  if (!response.ok) throw new Error(`responded with status ${response.status}`);
  if (!wholeFlow) return;
  const { code, description } = (await response.json()) as { code?: number; description?: string };
  if (code) throw new Error(description ?? 'an executor of the flow is not ready');
}

const isTimeout = ({ name, code }: Error & { code?: unknown }): boolean =>
  name === 'TimeoutError' || code === CANCELLED;

function reasonOf(error: unknown, timeoutMs: number): string {
  const { message, cause } = error as Error;
  const reason = connectionReason(error);
  if (isTimeout(error as Error)) return `no answer within ${timeoutMs} ms`;
  if (reason) return reason;
  return cause instanceof Error ? cause.message : message;
}

/** Throws an Error if too few attempts succeed. */
async function ping({ print, note }: PingContext, what: string, target: Target, flags: PingFlags): Promise<void> {
  const { attempts, timeout, minSuccessfulAttempts } = flags;
  let successes = 0;
  for (let at = 0; at < attempts; at++) {
    if (at > 0) await sleep(PAUSE_MS);
    const started = performance.now();
    try {
      await ask(what, target, timeout);
      successes++;
      print(`${what} at ${target.host}:${target.port} answered after ${Math.round(performance.now() - started)} ms`);
    } catch (error) {
      note(`${what} at ${target.host}:${target.port}: ${reasonOf(error, timeout)}`);
    }
  }
  if (successes < minSuccessfulAttempts) throw new Error(`${successes} of ${attempts} attempts succeeded`);
}
