/** Which models are served and under which names: the rows that are known, the operator's own, and aliases. */
import { ConfigError } from '#config.ts';
import { problem } from '#errors.ts';
import type { EmbeddingKind, EmbeddingRow, ModelRow, RerankRow } from './catalogue.ts';
import { knownKind } from './registry-known.ts';

/** A row under one of its names. */
interface Served<Row extends ModelRow> {
  /** The short id of the row, or the alias. */
  readonly name: string;
  readonly row: Row;
  readonly alias: boolean;
}

export interface ServedEmbedding extends Served<EmbeddingRow> {
  /** Which fields a request for it may have: that of the row, or of the model that its alias is known as. */
  readonly kind: EmbeddingKind;
}
export type ServedReranker = Served<RerankRow>;
export type ServedModel = ServedEmbedding | ServedReranker;

/** Whether a row can serve: its files are here (or need none), would be downloaded, or cannot be had. */
export type Availability = 'here' | 'download' | 'away';

export interface Registry {
  /** The model that a request names; ModelNotFoundError names those there are. */
  embedding(name: string): ServedEmbedding;
  reranker(name: string): ServedReranker;
  /** By its id, with or without an organisation in front. */
  find(name: string): ServedModel | undefined;
  /** All that can serve, aliases last. */
  list(): ServedModel[];
  availability(row: ModelRow): Availability;
}

export interface RegistryOptions {
  /** A later row replaces an earlier one of the same id: the operator's come last. */
  readonly rows: readonly ModelRow[];
  /** Further names, each of an id or repository among the rows. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Asked anew for each request: files come and go while the server runs. */
  readonly availability: (row: ModelRow) => Availability;
}

/** Throws ConfigError for an alias of nothing. */
export function createRegistry({ rows, aliases, availability }: RegistryOptions): Registry {
  const own = new Map(rows.map((row) => [row.id, row]));
  const byHub = new Map([...own.values()].filter(({ hub }) => hub).map((row) => [row.hub, row]));
  const names = new Map<string, ServedModel>();
  for (const row of own.values()) names.set(row.id, served(row.id, row, false));
  for (const [name, target] of Object.entries(aliases)) {
    const row = own.get(target) ?? byHub.get(target);
    if (!row) throw new ConfigError(`modelAliases: ${name} is to mean ${target}, and there is no such model`);
    names.delete(name);
    names.set(name, served(name, row, true));
  }

  function find(name: string): ServedModel | undefined {
    const hub = byHub.get(name);
    const found = names.get(name) ?? (hub && names.get(hub.id)) ?? names.get(withoutOrganisation(name));
    return found && availability(found.row) !== 'away' ? found : undefined;
  }

  const list = () => [...names.values()].filter(({ row }) => availability(row) !== 'away');

  function missing(name: string, endpoint: string, does: ModelRow['does']) {
    const shown = name.length > MOST_SHOWN ? `${name.slice(0, MOST_SHOWN)}…` : name;
    const ids = list().flatMap((model) => (model.row.does === does ? [model.name] : []));
    const there = ids.length ? `Available for ${endpoint}: ${ids.join(', ')}` : `There is none for ${endpoint}`;
    return problem('ModelNotFoundError', { message: `Model ${shown} not found. ${there}` });
  }

  return {
    embedding(name) {
      const found = find(name);
      if (found && isEmbedding(found)) return found;
      throw missing(name, '/v1/embeddings', 'embed');
    },
    reranker(name) {
      const found = find(name);
      if (found && !isEmbedding(found)) return found;
      throw missing(name, '/v1/rerank', 'rerank');
    },
    find,
    list,
    availability,
  };
}

const MOST_SHOWN = 100;

export const isEmbedding = (model: ServedModel): model is ServedEmbedding => model.row.does === 'embed';

function served(name: string, row: ModelRow, alias: boolean): ServedModel {
  if (row.does === 'rerank') return { name, row, alias };
  return { name, row, alias, kind: (alias ? knownKind(withoutOrganisation(name)) : undefined) ?? row.kind };
}

/** `org/short` as `short`. */
const withoutOrganisation = (name: string) => name.slice(name.lastIndexOf('/') + 1);
