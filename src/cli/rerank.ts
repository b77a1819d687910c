/** `lectern rerank`: orders documents by relevance to a query, through the client. */
import { type ClientFlags, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { usageError } from './exit-codes.ts';
import { FlagCommand, Option } from './flags.ts';
import { parseInteger } from './numbers.ts';
import { write } from './output.ts';
import { readTexts } from './texts.ts';

interface RerankFlags extends ClientFlags {
  readonly model?: string;
  readonly top?: number;
  readonly json?: boolean;
}

export function rerankCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('rerank')
    .description('Order documents by relevance to a query.')
    .argument('<query>', 'query')
    .argument('[document...]', 'texts; `-` or none reads lines from standard input')
    .option('--model <id>', 'Model id; the built-in model if omitted.')
    .addOption(
      new Option('--top <count>', 'Number of best documents to print; all if omitted.').argParser(parseInteger),
    )
    .option('--json', 'Print JSON.');
  return withClientFlags(command).action((query: string, documents: string[], flags: RerankFlags) =>
    rerank(query, documents, flags, context),
  );
}

async function rerank(query: string, given: readonly string[], flags: RerankFlags, context: CliContext): Promise<void> {
  const documents: string[] = [];
  for await (const text of readTexts(given, context)) documents.push(text);
  if (documents.length === 0) throw usageError('no documents: give them as arguments or as lines on standard input');
  const { model, top } = flags;
  const request = { query, documents, ...(model !== undefined && { model }), ...(top !== undefined && { top_n: top }) };
  await withClient(context, flags, async ({ client }) => {
    const { results } = await client.rerank({ ...request, return_documents: false }, { signal: context.signal });
    const ranked = results.map(({ index, relevance_score: score }) => ({ index, score, text: documents[index]! }));
    const lines = ranked.map(
      ({ index, score, text }) => `${score.toFixed(4)}\t${index}\t${text.replaceAll(/\s+/g, ' ')}`,
    );
    await write(context.output, flags.json ? `${JSON.stringify(ranked, null, 2)}\n` : `${lines.join('\n')}\n`);
  });
}
