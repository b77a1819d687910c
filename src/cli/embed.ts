/** `lectern embed`: turns texts into embedding vectors, through the client. */
import type { Embedding, EmbedRequest } from '#client/index.ts';
import { type ClientFlags, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { FlagCommand, Option } from './flags.ts';
import { parseInteger } from './numbers.ts';
import { write } from './output.ts';
import { readTexts } from './texts.ts';

const FORMATS = ['lines', 'json', 'base64', 'csv'] as const;

interface EmbedFlags extends ClientFlags {
  readonly model?: string;
  readonly task?: string;
  readonly inputType?: string;
  readonly dimensions?: number;
  readonly truncate?: boolean;
  readonly format: (typeof FORMATS)[number];
  readonly json?: boolean;
}

/** Number of texts per request: enough to fill a model's batches, but few enough to print results early. */
const TEXTS_PER_REQUEST = 256;

export function embedCommand(context: CliContext): FlagCommand {
  const command = new FlagCommand('embed')
    .description('Turn texts into embedding vectors.')
    .argument('[text...]', 'texts; `-` or none reads lines from standard input')
    .option('--model <id>', 'Model id; the built-in model if omitted.')
    .option('--task <task>', 'Task that the vectors are for, such as retrieval.query.')
    .addOption(
      new Option('--input-type <side>', 'Whether the texts are queries or documents of a search.').choices([
        'query',
        'document',
      ]),
    )
    .addOption(
      new Option('--dimensions <count>', 'Length of the vectors, for models that support shorter ones.').argParser(
        parseInteger,
      ),
    )
    .option('--truncate', 'Truncate texts longer than the model accepts, instead of failing.')
    .addOption(
      new Option(
        '--format <format>',
        'lines: one JSON object per line; json: one array; base64: one vector of 32-bit floats per line; csv: one vector of numbers per line.',
      )
        .choices(FORMATS)
        .default('lines'),
    )
    .option('--json', 'Same as --format json.');
  return withClientFlags(command).action((texts: string[], flags: EmbedFlags) => embed(texts, flags, context));
}

async function embed(given: readonly string[], flags: EmbedFlags, context: CliContext): Promise<void> {
  const format = flags.json ? 'json' : flags.format;
  const request = requestOf(flags, format);
  await withClient(context, flags, async ({ client }) => {
    let at = 0;
    for await (const texts of inGroups(readTexts(given, context))) {
      const { data } = await client.embed({ ...request, input: texts }, { signal: context.signal });
      for (const { embedding } of data.toSorted((one, other) => one.index - other.index)) {
        const index = at++;
        await write(
          context.output,
          formatVector(format, { index, text: texts[index % TEXTS_PER_REQUEST]!, embedding }),
        );
      }
    }
    if (format === 'json') await write(context.output, at === 0 ? '[]\n' : '\n]\n');
  });
}

function requestOf({ model, task, inputType, dimensions, truncate }: EmbedFlags, format: EmbedFlags['format']) {
  return {
    ...(model !== undefined && { model }),
    ...(task !== undefined && { task }),
    ...(inputType !== undefined && { input_type: inputType }),
    ...(dimensions !== undefined && { dimensions }),
    ...(truncate && { truncate }),
    ...(format === 'base64' && { embedding_type: 'base64' }),
  } satisfies Omit<EmbedRequest, 'input'>;
}

interface Vector extends Pick<Embedding, 'index' | 'embedding'> {
  readonly text: string;
}

function formatVector(format: EmbedFlags['format'], vector: Vector): string {
  if (format === 'csv') return `${(vector.embedding as readonly number[]).join(',')}\n`;
  if (format === 'base64') return `${vector.embedding}\n`;
  const line = JSON.stringify(vector);
  return format === 'lines' ? `${line}\n` : `${vector.index === 0 ? '[\n' : ',\n'}${line}`;
}

async function* inGroups(texts: AsyncIterable<string>): AsyncGenerator<string[]> {
  let group: string[] = [];
  for await (const text of texts) {
    group.push(text);
    if (group.length < TEXTS_PER_REQUEST) continue;
    yield group;
    group = [];
  }
  if (group.length > 0) yield group;
}
