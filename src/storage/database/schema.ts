/**
 * Keeps the tables of a module in a schema of PostgreSQL. Each name is qualified instead of setting `search_path`, which
 * PgBouncer does not keep in transaction mode.
 */
import {
  type Kysely,
  OperationNodeTransformer,
  type QueryExecutorProvider,
  type QueryId,
  type RawNode,
  sql,
} from 'kysely';

export interface Schema {
  /** Letters, digits, `-` and `_`, at most 63. The schema is created if it is missing. */
  readonly name: string;
  /** The tables in it, which SQL text names without a schema. No column may have such a name. */
  readonly tables: readonly string[];
}

const NAME = /^[A-Za-z0-9_-]{1,63}$/;

/** Qualifies the tables in queries, whether built or written as SQL text. */
export function inSchema<Tables>(db: Kysely<Tables>, { name, tables }: Schema): Kysely<Tables> {
  if (!NAME.test(name)) throw new Error(`not a name of a schema: ${name}`);
  const transformer = new TextTransformer(name, tables);
  return db.withSchema(name).withPlugin({
    transformQuery: ({ node, queryId }) => transformer.transformNode(node, queryId),
    transformResult: async ({ result }) => result,
  });
}

class TextTransformer extends OperationNodeTransformer {
  readonly #names: RegExp;
  readonly #qualified: string;

  constructor(schema: string, tables: readonly string[]) {
    super();
    this.#names = new RegExp(`(?<![\\w."])(?:${tables.join('|')})\\b`, 'g');
    this.#qualified = `"${schema}".$&`;
  }

  protected override transformRaw(node: RawNode, queryId?: QueryId): RawNode {
    const { sqlFragments, ...rest } = super.transformRaw(node, queryId);
    return { ...rest, sqlFragments: sqlFragments.map((text) => text.replace(this.#names, this.#qualified)) };
  }
}

/** Within a transaction, in which new tables are then created in the schema. */
export async function enterSchema(transaction: QueryExecutorProvider, name: string): Promise<void> {
  const { rows } = await sql`SELECT 1 FROM pg_namespace WHERE nspname = ${name}`.execute(transaction);
  // Creating it, even if it exists, needs a right that the servers may lack.
  if (rows.length === 0) await sql`CREATE SCHEMA ${sql.id(name)}`.execute(transaction);
  await sql`SELECT set_config('search_path', format('%I, %s', ${name}::text, current_setting('search_path')), true)`.execute(
    transaction,
  );
}
