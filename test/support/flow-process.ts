/** Runs flow commands of the built program, each in a separate process. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { programFile } from './program.ts';

export interface FlowProcess {
  /** Lines of standard output and standard error so far. */
  readonly lines: readonly string[];
  /** The URL in the line that starts with these words, such as `flow http`. */
  urlOf(words: string): Promise<string>;
  /**
   * Resolves with the first matching line, which may already have been printed. Rejects if the process exits before
   * that.
   */
  lineWith(pattern: RegExp): Promise<string>;
  /** Sends SIGTERM and returns the exit code. */
  stop(): Promise<number | null>;
}

/** Resolves when the command is ready to serve. Rejects with the output if it exits before that. */
export async function startFlowProcess(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<FlowProcess> {
  const child = spawn(process.execPath, [await programFile(), ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  for (const stream of [child.stdout, child.stderr]) {
    createInterface({ input: stream }).on('line', (line) => {
      lines.push(line);
      for (const look of waiting) look();
    });
  }
  const ended = once(child, 'close');

  function lineWith(pattern: RegExp): Promise<string> {
    return new Promise((resolve, reject) => {
      const look = () => {
        const found = lines.find((line) => pattern.test(line));
        if (found === undefined) return;
        waiting.delete(look);
        resolve(found);
      };
      waiting.add(look);
      ended.then(() => reject(new Error(`the process has ended:\n${lines.join('\n')}`)));
      look();
    });
  }

  await lineWith(/^lectern: (?:flow|executor) .*:\/\//);
  return {
    lines,
    lineWith,
    urlOf: async (words) => (await lineWith(new RegExp(`^lectern: ${words} `))).match(/\w+:\/\/\S+/)![0],
    async stop() {
      child.kill('SIGTERM');
      const [code] = await ended;
      return code;
    },
  };
}
