/** `lectern models`: lists, downloads and removes models that run on this machine. */
import type { Command } from 'commander';
import type { Model } from '#client/index.ts';
import type { LibraryModel, ModelLibrary, PullPlan, PullProgress } from '#models/index.ts';
import { type CommandContext, type DataFlags, newCommand, requireFound, withDataFlags } from './accounts-module.ts';
import { type ClientFlags, dataDirOf, withClient, withClientFlags } from './client.ts';
import type { CliContext } from './context.ts';
import { bar, createProgress } from './progress.ts';
import { tableLines } from './table.ts';

interface ServedFlags extends ClientFlags {
  readonly json?: boolean;
}

export function modelsCommand(context: CliContext): Command {
  const models = newCommand('models', 'List, download and remove models.');
  withClientFlags(models.command('served'))
    .description('List the models that the server or this process serves.')
    .option('--json', 'Print JSON.')
    .action((flags: ServedFlags) =>
      withClient(context, flags, async ({ client }) => {
        const served = await client.models({ signal: context.signal });
        if (flags.json) context.print(JSON.stringify(served, null, 2));
        else for (const line of tableLines(SERVED_HEADINGS, served.map(servedCells), 'No models.')) context.print(line);
      }),
    );
  withDataFlags(models.command('list'))
    .description('List the known models and whether they are downloaded.')
    .action((flags: DataFlags) =>
      withLibrary(context, flags, async (library) => {
        const known = await library.list();
        if (flags.json) context.print(JSON.stringify(known.map(toJson), null, 2));
        else for (const line of tableLines(HEADINGS, known.map(cells), 'No models.')) context.print(line);
      }),
    );
  addModelCommand(models, 'show', 'Show details of a model.', context, async (_, model, flags) => {
    if (flags.json) context.print(JSON.stringify(toJson(model), null, 2));
    else for (const [label, value] of facts(model)) context.print(`${label.padEnd(12)} ${value}`);
  });
  addModelCommand(
    models,
    'pull',
    'Download a model, or its missing files, from the hub.',
    context,
    async (library, model, flags) => {
      const { row, onDisk } = model;
      if (onDisk) context.note(`${row.id} is already downloaded`);
      const progress = createProgress(context);
      const { folder } = await library
        .pull(row, {
          onPlan: (plan) => {
            for (const line of planLines(plan)) context.note(line);
          },
          onProgress: (done) => progress.show(progressLine(done)),
        })
        .finally(progress.end);
      if (flags.json)
        context.print(JSON.stringify(toJson(requireFound(await library.find(row.id), 'model', row.id)), null, 2));
      else context.print(folder);
    },
  );
  addModelCommand(
    models,
    'remove',
    'Remove the downloaded files of a model.',
    context,
    async (library, { row }, flags) => {
      const removed = await library.remove(row);
      if (flags.json) context.print(JSON.stringify({ id: row.id, removed }));
      else context.print(removed ? `${row.id} removed` : `${row.id} was not downloaded`);
    },
  );
  return models;
}

function addModelCommand(
  models: Command,
  name: string,
  description: string,
  context: CommandContext,
  work: (library: ModelLibrary, model: LibraryModel, flags: DataFlags) => Promise<void>,
): void {
  withDataFlags(models.command(name))
    .description(description)
    .argument('<id>', 'id of the model, or its repository on the hub')
    .action((id: string, flags: DataFlags) =>
      withLibrary(context, flags, async (library) =>
        work(library, requireFound(await library.find(id), 'local model', id), flags),
      ),
    );
}

async function withLibrary<T>(
  { environment }: CommandContext,
  flags: DataFlags,
  work: (library: ModelLibrary) => Promise<T>,
): Promise<T> {
  const [{ readConfig }, { openLibrary }] = await Promise.all([import('#config.ts'), import('#models/index.ts')]);
  const place = { dataDir: dataDirOf({ environment }, flags), config: flags.config };
  const library = openLibrary(readConfig({ environment, flags: place }));
  try {
    return await work(library);
  } finally {
    await library.close();
  }
}

const megabytes = (bytes: number) => `${Math.ceil(bytes / 1_000_000).toLocaleString('en-US')} MB`;

const NON_COMMERCIAL = 'commercial use requires permission from its owner';

function* planLines(plan: PullPlan): Generator<string> {
  const { repository, revision, files, bytes, licence, nonCommercial } = plan;
  yield `${plan.id}: ${files.length} files of ${repository} at ${revision}, ${megabytes(bytes)}`;
  yield `license: ${licence}${nonCommercial ? ` (${NON_COMMERCIAL})` : ''}`;
}

const progressLine = ({ file, bytes, total }: PullProgress): string =>
  `${bar(total > 0 ? bytes / total : 1)} of ${megabytes(total)} (${file})`;

const SERVED_HEADINGS = ['ID', 'INPUT', 'OUTPUT', 'TOKENS', 'DIMENSIONS'];

const servedCells = (model: Model): (string | number)[] => [
  model.id,
  model.input_modalities.join(', '),
  model.output_modalities.join(', '),
  model.context_length,
  model.max_output_length,
];

const HEADINGS = ['ID', 'TASK', 'DIMENSIONS', 'TOKENS', 'SIZE', 'LICENCE', 'DOWNLOADED'];

const sizeOf = ({ row, onDisk }: LibraryModel): number | undefined =>
  onDisk?.bytes ?? (row.runs.on === 'onnx' ? row.runs.bytes : undefined);

function cells(model: LibraryModel): (string | number)[] {
  const { row, onDisk, nonCommercial } = model;
  const size = sizeOf(model);
  return [
    row.id,
    row.does,
    row.does === 'embed' ? String(row.dimensions) : '',
    row.contextTokens,
    size === undefined ? '' : megabytes(size),
    `${row.licence}${nonCommercial ? ' (non-commercial)' : ''}`,
    onDisk ? 'yes' : 'no',
  ];
}

function toJson(model: LibraryModel) {
  const { row, nonCommercial, onDisk } = model;
  return {
    id: row.id,
    hub: row.hub,
    does: row.does,
    description: row.description,
    dimensions: row.does === 'embed' ? row.dimensions : null,
    contextTokens: row.contextTokens,
    languages: row.languages,
    licence: row.licence,
    nonCommercial,
    bytes: sizeOf(model) ?? null,
    here: onDisk !== undefined,
    folder: onDisk?.folder ?? null,
    commit: onDisk?.commit || null,
  };
}

function facts(model: LibraryModel): [string, string][] {
  const { row, onDisk, nonCommercial } = model;
  const size = sizeOf(model);
  const sizes =
    row.does === 'embed' && row.matryoshka.length ? `, can be shortened to ${row.matryoshka.join(', ')}` : '';
  return [
    ['id', row.id],
    ['repository', row.hub || 'none'],
    ['description', row.description],
    ['task', row.does === 'embed' ? `embed, ${row.dimensions} dimensions${sizes}` : 'rerank'],
    ['tokens', row.contextTokens.toLocaleString('en-US')],
    ['languages', row.languages.join(', ')],
    ['license', `${row.licence}${nonCommercial ? ` (${NON_COMMERCIAL})` : ''}`],
    ['size', size === undefined ? 'unknown' : megabytes(size)],
    ['downloaded', onDisk ? onDisk.folder : 'no'],
    ...(onDisk?.commit ? ([['commit', onDisk.commit]] as [string, string][]) : []),
  ];
}
