/** The served models by name: known rows, the operator's rows, and aliases. */
import { ConfigError } from '#config.ts';
import { problem } from '#errors.ts';
import { CONTENT_KINDS } from '../inputs/inputs.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { EmbeddingKind, EmbeddingRow, ModelRow, RerankRow } from './catalogue.ts';
import { isHostedReranker, knownKind } from './hosted-ids.ts';
import { REPLACED_MODELS } from './rows/built-in.ts';

/** A row under one of its names. */
interface Served<Row extends ModelRow> {
  /** The row's id, or the alias. */
  readonly name: string;
  readonly row: Row;
  readonly alias: boolean;
}

export interface ServedEmbedding extends Served<EmbeddingRow> {
  /** Determines the accepted fields: the row's kind or, for an alias, the kind of the hosted model with that id. */
  readonly kind: EmbeddingKind;
}
export type ServedReranker = Served<RerankRow>;
export type ServedModel = ServedEmbedding | ServedReranker;

/**
 * `here`: the files are on this machine, or none are needed. `download`: the files are downloaded on first use. `away`:
 * the model is unavailable.
 */
export type Availability = 'here' | 'download' | 'away';

/** Reports availability. It is refreshed regularly, because files may be added or removed while the server runs. */
export interface AvailabilityCheck {
  /** The availability at the last refresh. */
  availability(row: ModelRow): Availability;
  look(rows: readonly ModelRow[]): Promise<void>;
}

export interface Registry {
  /** Finds the model for a request. Throws ModelNotFoundError, which lists the available models, if there is none. */
  embedding(name: string): Promise<ServedEmbedding>;
  /** The same for rerankers. An id of a hosted service that is not served here means the default reranker. */
  reranker(name: string): Promise<ServedReranker>;
  /** Finds a model by its id, with or without the organization. */
  find(name: string): Promise<ServedModel | undefined>;
  /** Lists the models that are usable at once. */
  list(): Promise<ServedModel[]>;
  /** Lists all models: those that are usable at once, then those that are downloaded on first use, then the others. */
  listAll(): Promise<ServedModel[]>;
  availability(row: ModelRow): Availability;
  /** Names of the models for requests of APIs whose requests name no model. */
  readonly defaults: { readonly embedder: string | undefined; readonly reranker: string | undefined };
}

export interface RegistryOptions {
  /** Later rows replace earlier ones with the same id, so the operator's rows come last. */
  readonly rows: readonly ModelRow[];
  /** Additional names, each mapped to the id or repository of a row. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly availabilityCheck: AvailabilityCheck;
  /** The model that answers for rerankers of hosted services. */
  readonly defaultReranker?: string | undefined;
  /** The embedding model of requests that name no model. */
  readonly defaultEmbedder?: string | undefined;
  readonly now?: () => number;
}

/** How long an availability result is reused, in milliseconds. */
const LOOK_MS = 1_000;

/** Throws ConfigError for an alias of an unknown model, or of a model that cannot serve the alias's kind. */
export function createRegistry(options: RegistryOptions): Registry {
  const { rows, aliases, availabilityCheck, defaultReranker, defaultEmbedder, now = Date.now } = options;
  const own = new Map(rows.map((row) => [row.id, row]));
  const byHub = new Map([...own.values()].filter(({ hub }) => hub).map((row) => [row.hub, row]));
  const names = new Map<string, ServedModel>();
  for (const row of own.values()) names.set(row.id, served(row.id, row, false));
  for (const [name, target] of Object.entries(aliases)) {
    const row = own.get(target) ?? byHub.get(target);
    if (!row) throw new ConfigError(`modelAliases: ${name} refers to the unknown model ${target}`);
    const model = served(name, row, true);
    if (isEmbedding(model)) refuseImpossible(model);
    names.delete(name);
    names.set(name, model);
  }

  const standIn = defaultReranker === undefined ? undefined : (own.get(defaultReranker) ?? byHub.get(defaultReranker));
  if (defaultReranker !== undefined && standIn?.does !== 'rerank') {
    throw new ConfigError(`defaultReranker: ${defaultReranker} is not a known reranker`);
  }

  if (defaultEmbedder !== undefined && (own.get(defaultEmbedder) ?? byHub.get(defaultEmbedder))?.does !== 'embed') {
    throw new ConfigError(`defaultEmbedder: ${defaultEmbedder} is not a known embedding model`);
  }

  let lookedAt = Number.NEGATIVE_INFINITY;
  let looking: Promise<void> | undefined;
  function refresh(): Promise<void> {
    if (now() - lookedAt < LOOK_MS) return looking ?? Promise.resolve();
    lookedAt = now();
    looking = availabilityCheck.look([...own.values()]);
    return looking;
  }

  const canServe = ({ row }: ServedModel) => availabilityCheck.availability(row) !== 'away';

  async function find(name: string): Promise<ServedModel | undefined> {
    const hub = byHub.get(name);
    const found = names.get(name) ?? (hub && names.get(hub.id)) ?? names.get(withoutOrganization(name));
    if (!found || canServe(found)) return found;
    await refresh();
    return canServe(found) ? found : undefined;
  }

  const rank = ({ row }: ServedModel) => ORDER.indexOf(availabilityCheck.availability(row));

  async function listAll(): Promise<ServedModel[]> {
    await refresh();
    return [...names.values()].sort((a, b) => rank(a) - rank(b));
  }

  const list = async (): Promise<ServedModel[]> =>
    (await listAll()).filter(({ row }) => availabilityCheck.availability(row) === 'here');

  /** Returns advice for the operator on how to make a known model available. */
  function pullable(name: string, does: ModelRow['does']): string {
    const known = names.get(name) ?? names.get(byHub.get(name)?.id ?? withoutOrganization(name));
    if (known) {
      const { runs } = known.row;
      if (known.row.does !== does || canServe(known) || runs.on !== 'onnx') return '';
      if (runs.folder !== undefined) return 'Its folder on the server is missing or lacks a file. ';
      if (runs.unpublished) return 'No repository publishes its graph: export it into a folder. ';
      return `It is not on this machine: \`lectern models pull ${known.row.id}\` downloads it. `;
    }
    const kind = does === 'embed' ? knownKind(withoutOrganization(name)) : undefined;
    if (kind === undefined || !CONTENT_KINDS.concat('omni-v4').includes(kind)) return '';
    return 'Images are supported by jina-clip-v1: `lectern models pull jina-clip-v1` downloads it. ';
  }

  /** Tells how an embedder of another service can be replaced. A reranker of one is replaced without a setting. */
  function aliasAdvice(name: string, shown: string, does: ModelRow['does']): string {
    const known = names.get(name) ?? names.get(byHub.get(name)?.id ?? withoutOrganization(name));
    const isOperators = known && (known.alias || (known.row.runs.on === 'onnx' && known.row.runs.folder !== undefined));
    if (does !== 'embed' || isOperators || known?.row.does === 'rerank') return '';
    const target = [...own.values()].find(
      (row) => row.does === 'embed' && availabilityCheck.availability(row) === 'here',
    )?.id;
    if (target === undefined) return '';
    return `. To use another model for this name, set LECTERN_MODEL_ALIASES=${JSON.stringify({ [shown]: target })}`;
  }

  async function missing(name: string, endpoint: string, does: ModelRow['does']) {
    const shown = name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name;
    const ids = (await list()).flatMap((model) => (model.row.does === does ? [model.name] : []));
    const replacement = REPLACED_MODELS.get(withoutOrganization(name));
    if (replacement !== undefined) {
      const vectors = does === 'embed' ? ', and the vectors of the two cannot be compared: embed your texts anew' : '';
      return problem('ModelNotFoundError', { message: `Model ${shown} was replaced by ${replacement}${vectors}` });
    }
    const available = ids.length
      ? `Available for ${endpoint}: ${ids.join(', ')}`
      : `No model is available for ${endpoint}`;
    return problem('ModelNotFoundError', {
      message: `Model ${shown} not found. ${pullable(name, does)}${available}${aliasAdvice(name, shown, does)}`,
    });
  }

  return {
    async embedding(name) {
      const found = await find(name);
      if (found && isEmbedding(found)) return found;
      throw await missing(name, '/v1/embeddings', 'embed');
    },
    async reranker(name) {
      const found = await find(name);
      if (found && !isEmbedding(found)) return found;
      const id = withoutOrganization(name);
      if (!found && standIn?.does === 'rerank' && isHostedReranker(id)) {
        const model: ServedReranker = { name: id, row: standIn, alias: true };
        if (canServe(model)) return model;
      }
      throw await missing(name, '/v1/rerank', 'rerank');
    },
    find,
    list,
    listAll,
    availability: availabilityCheck.availability,
    defaults: { embedder: defaultEmbedder, reranker: defaultReranker },
  };
}

const MOST_SHOWN = 100;
/** The order of models in lists. */
const ORDER: readonly Availability[] = ['here', 'download', 'away'];

export const isEmbedding = (model: ServedModel): model is ServedEmbedding => model.row.does === 'embed';

function served(name: string, row: ModelRow, alias: boolean): ServedModel {
  if (row.does === 'rerank') return { name, row, alias };
  return { name, row, alias, kind: (alias ? knownKind(withoutOrganization(name)) : undefined) ?? row.kind };
}

function refuseImpossible({ name, row, kind }: ServedEmbedding): void {
  const { multivector, sparse } = capabilitiesOf(row);
  const lacks =
    kind === 'colbert' && !multivector
      ? 'a vector for each token'
      : kind === 'sparse' && !sparse
        ? 'sparse vectors'
        : undefined;
  if (lacks) throw new ConfigError(`modelAliases: ${name} requires ${lacks}, which ${row.id} does not support`);
}

/** `org/short` becomes `short`. */
const withoutOrganization = (name: string) => name.slice(name.lastIndexOf('/') + 1);
