/** The reference page of the known models, from their rows. */
import type { EmbeddingRow, ModelRow } from '#models/registry/catalogue.ts';
import { isNonCommercial, KNOWN_MODELS } from '#models/registry/known-models.ts';
import { BUILT_IN_MODELS } from '#models/registry/rows/built-in.ts';

type Table = (heads: string[], rows: string[][]) => string;

const number = (value: number) => value.toLocaleString('en-US');

export const MODELS_LEAD =
  'The models that Lectern knows. Except for the built-in models, their data come from documentation, and the tests do not run their real weights: they run random weights in graphs of the same architecture. [The guide](../guide/model-setup.md) explains how to download a model and how to add others.';

export function modelsText(table: Table): string {
  const rows = [...BUILT_IN_MODELS, ...KNOWN_MODELS];
  const embedders = rows.filter((row): row is EmbeddingRow => row.does === 'embed');
  const heads = ['Context', 'Languages', 'License', 'Download', 'Data from'];
  return [
    '## Embedding models',
    table(
      ['Model', 'Kind', 'Numbers', 'Pooling', ...heads],
      embedders.map((row) => [nameOf(row), `\`${row.kind}\``, numbersOf(row), poolingOf(row), ...factsOf(row)]),
    ),
    '## Rerankers',
    table(
      ['Model', 'Kind', ...heads],
      rows
        .filter(({ does }) => does === 'rerank')
        .map((row) => [
          nameOf(row),
          row.runs.on === 'onnx' && row.runs.judge ? 'language model' : kindOf(row),
          ...factsOf(row),
        ]),
    ),
    '## Prompts',
    'The text before each input, by the side of a search or by task. Other models have none.',
    table(
      ['Model', 'Prompts'],
      embedders
        .filter(({ prefixes }) => Object.values(prefixes).some((prefix) => prefix !== ''))
        .map(({ id, prefixes }) => [`\`${id}\``, promptsOf(prefixes)]),
    ),
  ].join('\n\n');
}

const nameOf = ({ id, description }: ModelRow) => `\`${id}\`: ${description}`;
const kindOf = ({ runs }: ModelRow) => (runs.on === 'static' ? 'built in' : 'cross-encoder');

function numbersOf({ dimensions, matryoshka, kind }: EmbeddingRow): string {
  if (kind === 'sparse') return 'weights of terms';
  return matryoshka.length > 0 ? `${number(dimensions)}, can be shortened` : number(dimensions);
}

function poolingOf({ pooling, kind, runs }: EmbeddingRow): string {
  if (kind === 'sparse') return 'largest weight of each term';
  if (kind === 'colbert') return 'a vector per token';
  if (runs.on === 'static') return 'mean of words';
  return { mean: 'mean', cls: 'first token', last: 'last token', none: 'in the graph' }[pooling];
}

function factsOf({ contextTokens, languages, licence, documentedIn, runs }: ModelRow): string[] {
  const download = runs.on === 'onnx' ? downloadOf(runs) : 'built in';
  return [
    number(contextTokens),
    languages.join(', '),
    isNonCommercial(licence) ? `${licence} (not for commercial use)` : licence,
    download,
    runs.on === 'static' ? 'measurements' : (documentedIn ?? 'model card and configuration'),
  ];
}

function downloadOf({ bytes, unpublished }: Extract<ModelRow['runs'], { on: 'onnx' }>): string {
  if (unpublished) return 'none: export the graph into a folder';
  return bytes === undefined ? '' : `${number(Math.round(bytes / 1e6))} MB`;
}

function promptsOf(prefixes: EmbeddingRow['prefixes']): string {
  const shown = Object.entries(prefixes).filter(([, prefix]) => prefix !== '');
  return shown.map(([name, prefix]) => `${name}: \`${prefix.replaceAll('\n', '\\n')}\``).join(', ');
}
