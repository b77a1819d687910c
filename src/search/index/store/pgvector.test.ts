import { sql } from 'kysely';
import { afterAll, describe, expect, it } from 'vitest';
import { openPostgres } from '#storage/database/postgres.ts';
import { startPgvector } from '../../../../test/support/services.ts';
import { parseQuery } from '../../query.ts';
import { createEngine } from '../engine.ts';
import { indexSuite, page, toyEmbedder } from '../index.suite.ts';
import { localIndexOver } from '../open.ts';
import { openPostgresIndex } from './postgres-index.ts';

const server = await startPgvector();
afterAll(() => server?.close());

describe.skipIf(!server)('shared', () => {
  const url = server?.url ?? '';

  indexSuite('the local index in PostgreSQL with pgvector', {
    async open() {
      const store = await openPostgresIndex(url);
      await store.clear();
      return store;
    },
  });

  async function ask<Row>(statement: string): Promise<readonly Row[]> {
    const { db, close } = await openPostgres<never>(url, { module: 'test', migrations: [] });
    try {
      return (await sql<Row>`${sql.raw(statement)}`.execute(db)).rows;
    } finally {
      await close();
    }
  }

  it('keeps one vector for each passage, in an index for its model', async () => {
    const store = await openPostgresIndex(url);
    await store.clear();
    const index = localIndexOver(createEngine({ store, embedder: toyEmbedder, maxBytes: 1e9 }));
    await Promise.all([
      index.add(page('https://a.test/1', 'A cat and a dog.')),
      index.add(page('https://a.test/2', 'Bread and soup.')),
    ]);
    await index.flush();
    expect(await ask('SELECT model, vector_dims(embedding) AS dimensions FROM index_near')).toEqual([
      { model: 'toy', dimensions: 32 },
      { model: 'toy', dimensions: 32 },
    ]);
    const [definition] = await ask<{ indexdef: string }>(
      "SELECT indexdef FROM pg_indexes WHERE tablename = 'index_near' AND indexdef LIKE '%hnsw%'",
    );
    expect(definition!.indexdef).toContain('halfvec(32)) halfvec_cosine_ops');
    const nearest = await index.search(parseQuery('puppy'), { by: ['meaning'] });
    expect(nearest[0]).toMatchObject({ url: 'https://a.test/1' });
    await index.remove('https://a.test/1');
    expect(await ask('SELECT count(*)::int AS rows FROM index_near')).toEqual([{ rows: 1 }]);
    await index.close();
  });

  it('has a table of vectors in each schema', async () => {
    for (const schema of ['first-1', 'second']) {
      const store = await openPostgresIndex(url, undefined, { schema });
      const index = localIndexOver(createEngine({ store, embedder: toyEmbedder, maxBytes: 1e9 }));
      await index.add(page(`https://${schema}.test/1`, 'A cat and a dog.'));
      await index.flush();
      const nearest = await index.search(parseQuery('puppy'), { by: ['meaning'] });
      expect(nearest.map((hit) => hit.url)).toEqual([`https://${schema}.test/1`]);
      await index.close();
      expect(await ask(`SELECT count(*)::int AS rows FROM "${schema}".index_near`)).toEqual([{ rows: 1 }]);
      expect(
        await ask(`SELECT tablename FROM pg_indexes WHERE schemaname = '${schema}' AND indexdef LIKE '%hnsw%'`),
      ).toEqual([{ tablename: 'index_near' }]);
    }
  });
});
