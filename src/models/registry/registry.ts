/** The served models by name: known rows, the operator's rows, and aliases. */
import { ConfigError } from '#config.ts';
import { problem } from '#errors.ts';
import { CONTENT_KINDS } from '../inputs/inputs.ts';
import { capabilitiesOf } from './capabilities.ts';
import type { EmbeddingKind, EmbeddingRow, ModelRow, RerankRow } from './catalogue.ts';
import { knownKind } from './hosted-ids.ts';

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
  reranker(name: string): Promise<ServedReranker>;
  /** Finds a model by its id, with or without the organization. */
  find(name: string): Promise<ServedModel | undefined>;
  /** Lists all available models, with aliases last. */
  list(): Promise<ServedModel[]>;
  availability(row: ModelRow): Availability;
}

export interface RegistryOptions {
  /** Later rows replace earlier ones with the same id, so the operator's rows come last. */
  readonly rows: readonly ModelRow[];
  /** Additional names, each mapped to the id or repository of a row. */
  readonly aliases: Readonly<Record<string, string>>;
  readonly availabilityCheck: AvailabilityCheck;
  readonly now?: () => number;
}

/** How long an availability result is reused, in milliseconds. */
const LOOK_MS = 1_000;

/** Throws ConfigError for an alias of an unknown model, or of a model that cannot serve the alias's kind. */
export function createRegistry({ rows, aliases, availabilityCheck, now = Date.now }: RegistryOptions): Registry {
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

  async function list(): Promise<ServedModel[]> {
    await refresh();
    return [...names.values()].filter(canServe);
  }

  /** Returns advice for the operator on how to make a known model available. */
  function pullable(name: string, does: ModelRow['does']): string {
    const known = names.get(name) ?? names.get(byHub.get(name)?.id ?? withoutOrganization(name));
    if (known) {
      const { runs } = known.row;
      if (known.row.does !== does || canServe(known) || runs.on !== 'onnx') return '';
      if (runs.folder !== undefined) return 'Its folder on the server is missing or lacks a file. ';
      return `It is not on this machine: \`lectern models pull ${known.row.id}\` downloads it. `;
    }
    const kind = does === 'embed' ? knownKind(withoutOrganization(name)) : undefined;
    if (kind === undefined || !CONTENT_KINDS.concat('omni-v4').includes(kind)) return '';
    return 'Images are supported by jina-clip-v1: `lectern models pull jina-clip-v1` downloads it. ';
  }

  async function missing(name: string, endpoint: string, does: ModelRow['does']) {
    const shown = name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name;
    const ids = (await list()).flatMap((model) => (model.row.does === does ? [model.name] : []));
    const pull = pullable(name, does);
    const available = ids.length
      ? `Available for ${endpoint}: ${ids.join(', ')}`
      : `No model is available for ${endpoint}`;
    return problem('ModelNotFoundError', { message: `Model ${shown} not found. ${pull}${available}` });
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
      throw await missing(name, '/v1/rerank', 'rerank');
    },
    find,
    list,
    availability: availabilityCheck.availability,
  };
}

const MOST_SHOWN = 100;

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
