#!/usr/bin/env node
/** Arguments in, exit code out: the only file that touches the process. */
import { readFileSync, realpathSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Command, CommanderError } from 'commander';
import { accountsCommand } from '#cli/accounts.ts';
import { batchCommand } from '#cli/batch.ts';
import { executorCommand } from '#cli/executor.ts';
import { flowCommand } from '#cli/flow.ts';
import { indexCommand } from '#cli/index-pages.ts';
import { keysCommand } from '#cli/keys.ts';
import { modelsCommand } from '#cli/models.ts';
import { pingCommand } from '#cli/ping.ts';
import { serveCommand } from '#cli/serve.ts';
import { usageCommand } from '#cli/usage.ts';
import { workerCommand } from '#cli/worker.ts';

export const VERSION: string = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')).version;

/** Runs a command line; the promise ends when its work does, and sets the exit code. */
export async function main(argv: readonly string[]): Promise<void> {
  const program = new Command('lectern')
    .description('Turns the web and your files into input for language models and retrieval systems.')
    .version(VERSION)
    // A command and its own commands may have options of the same name.
    .enablePositionalOptions()
    .exitOverride();
  program.addCommand(
    serveCommand({ version: VERSION, environment: process.env, onStop, print: (line) => console.log(line) }),
  );
  program.addCommand(workerCommand({ environment: process.env, onStop, print: (line) => console.log(line) }));
  const context = {
    environment: process.env,
    print: (line: string) => console.log(line),
    note: (line: string) => console.error(line),
    readInput: () => text(process.stdin),
    output: process.stdout,
    rewrite: process.stderr.isTTY ? (line: string) => void process.stderr.write(`\r\x1b[K${line}`) : undefined,
  };
  for (const command of [keysCommand, accountsCommand, usageCommand, modelsCommand, batchCommand])
    program.addCommand(command(context));
  for (const command of [flowCommand, executorCommand, indexCommand])
    program.addCommand(command({ ...context, version: VERSION, onStop }));
  program.addCommand(pingCommand(context));
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode;
      return;
    }
    console.error(`lectern: ${(error as Error).message}`);
    process.exitCode = 1;
  }
}

/** Calls `stop` once at the first SIGTERM or SIGINT; a second signal ends the process at once. */
function onStop(stop: () => Promise<void>): void {
  let stopping = false;
  for (const signal of ['SIGTERM', 'SIGINT'] as const) {
    process.on(signal, () => {
      if (stopping) process.exit(1);
      stopping = true;
      stop().then(
        () => process.exit(0),
        (error: unknown) => {
          console.error(error);
          process.exit(1);
        },
      );
    });
  }
}

const invoked = process.argv[1];
// An installed command is a link to this file.
if (invoked && realpathSync(invoked) === fileURLToPath(import.meta.url)) await main(process.argv.slice(2));
