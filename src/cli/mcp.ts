/** `lectern mcp`: serves MCP tools over the standard streams to the client that started this program. */
import type { Client } from '#client/index.ts';
import { type ClientFlags, type OpenClient, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';
import { FlagCommand } from './flags.ts';
import { describeSystemError } from './system-errors.ts';

interface McpFlags extends ClientFlags {
  readonly allowDir?: readonly string[];
}

export function mcpCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('mcp')
    .description('Serve MCP tools over standard input and output.')
    .option('--allow-dir <folder...>', 'Folder whose files tools may read by path; none if omitted.');
  return withClientFlags(command).action((flags: McpFlags) => serve(context, flags));
}

async function serve(context: CliContext, flags: McpFlags): Promise<void> {
  const { version, input, output, note, signal } = context;
  const [{ serveOverStdio }, { openLocalFiles }] = await Promise.all([
    import('#mcp/stdio.ts'),
    import('#mcp/local-files.ts'),
  ]);
  const folders = flags.allowDir ?? [];
  const files = folders.length
    ? await openLocalFiles(folders).catch((error: Error) => {
        throw usageError(`--allow-dir: ${describeSystemError(error) ?? error.message}`);
      })
    : undefined;
  const onError = (error: unknown) => note(`lectern: ${(error as Error | undefined)?.stack ?? error}`);
  context.onFault((error, message) => {
    note(`lectern: ${message}`);
    onError(error);
  });
  const done = new AbortController();
  const isDone = new Promise<void>((resolve) => done.signal.addEventListener('abort', () => resolve()));
  let working: Promise<void> | undefined;
  let client: Promise<Client> | undefined;
  const open = () =>
    new Promise<Client>((resolve, reject) => {
      const work = async (opened: OpenClient) => {
        resolve(opened.client);
        await isDone;
      };
      // No retries, so that the model learns immediately that it has to wait.
      working = withClient(context, flags, work, { retries: 0, jobs: 'crawl' });
      working.catch((error: unknown) => {
        reject(error);
        done.abort();
      });
    });
  const ends = AbortSignal.any([signal, done.signal]);
  const needs = { version, files, input, output, onError, signal: ends };
  await serveOverStdio({
    ...needs,
    client: () => {
      client ??= open();
      return client;
    },
  });
  done.abort();
  await working;
}
