/** `lectern ocr`: recognizes the text in images and scanned documents, through the client. */
import type { OcrOptions } from '#client/index.ts';
import { type ClientFlags, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { CommandError, exitOf, exitOfMany, usageError } from './exit-codes.ts';
import { FlagCommand, Option } from './flags.ts';
import { write, writeFileAtomically } from './output.ts';
import { loadTarget, parseSource, type Source } from './sources.ts';

const FORMATS = ['markdown', 'text', 'html', 'json', 'hocr'] as const;

interface OcrFlags extends ClientFlags {
  readonly model?: string;
  readonly prompt?: string;
  readonly pages?: string;
  readonly format?: (typeof FORMATS)[number];
  readonly output?: string;
  readonly json?: boolean;
}

export function ocrCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('ocr')
    .description('Recognize the text in images and scanned documents.')
    .argument('<what...>', 'files, URLs, or `-` for standard input')
    .option('--model <id>', "Model id; the server's default if omitted.")
    .option('--prompt <text>', 'Instruction, for models that accept one.')
    .option('--pages <pages>', 'Pages of a document, such as 1-3,7; all if omitted.')
    .addOption(new Option('-f, --format <format>', 'Output format. Default: markdown.').choices(FORMATS))
    .option('-o, --output <file>', 'Output file; standard output if omitted.')
    .option('--json', 'Print one JSON object per input, with its token usage.');
  return withClientFlags(command).action((what: string[], flags: OcrFlags) =>
    ocr(what.map(parseSource), flags, context),
  );
}

async function ocr(sources: readonly Source[], flags: OcrFlags, context: CliContext): Promise<void> {
  const { model, prompt, pages, format, output, json } = flags;
  if (sources.length > 1 && output !== undefined)
    throw usageError('--output takes one input: give a single file or URL');
  const options = { model, prompt, pages, outputFormat: format as OcrOptions['outputFormat'] };
  await withClient(context, flags, async ({ client }) => {
    const failures: unknown[] = [];
    for (const source of sources) {
      try {
        const { text, usage, warning } = await client.ocr(await loadPicture(source, context), options, {
          signal: context.signal,
        });
        const answer = json
          ? `${JSON.stringify({ source: source.name, text, usage, warning })}\n`
          : `${text.trimEnd()}\n`;
        if (warning) context.note(`lectern: ${source.name}: ${warning}`);
        if (output === undefined) await write(context.output, answer);
        else await writeFileAtomically(output, answer);
      } catch (error) {
        if (sources.length === 1 || context.signal.aborted) throw error;
        failures.push(error);
        context.note(`lectern: ${source.name}: ${(error as Error).message}`);
      }
    }
    const exit = exitOfMany({ done: sources.length - failures.length, failed: failures.length });
    if (exit !== 'ok')
      throw new CommandError(
        exit === 'failed' ? exitOf(failures[0]) : exit,
        `${failures.length} of ${sources.length} failed`,
      );
  });
}

async function loadPicture(source: Source, context: CliContext): Promise<string | Uint8Array> {
  const target = await loadTarget(source, context, undefined);
  if (typeof target === 'string') return target;
  if (target.file instanceof Uint8Array) return target.file;
  throw usageError(`${source.name} is neither an image nor a document`);
}
