/** `lectern mcp`: the tools for a model's client that starts this program and speaks to it over the standard streams. */
import { type ClientFlags, inClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';
import { FlagCommand } from './flags.ts';

interface McpFlags extends ClientFlags {
  readonly allowDir?: readonly string[];
}

export function mcpCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('mcp')
    .description('Serve tools to a client of the Model Context Protocol, over the standard input and output.')
    .option('--allow-dir <folder...>', 'A folder whose files may be read by their path; none may be without it.');
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
        throw usageError(`--allow-dir: ${error.message}`);
      })
    : undefined;
  const onError = (error: unknown) => note(`lectern: ${(error as Error).stack ?? error}`);
  await inClient(context, flags, ({ client }) =>
    serveOverStdio({ version, client, files, input, output, onError, signal }),
  );
}
