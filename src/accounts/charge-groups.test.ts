// Full run only: it opens a database.
import { mkdtempSync, rmSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { openStore } from '#storage/database/store.ts';
import { openChargeGroups } from './charge-groups.ts';
import { newId } from './ids.ts';
import { ACCOUNT_TABLES } from './open.ts';
import type { Charge } from './records.ts';
import type { Tables } from './schema.ts';

const newCharge = (): Charge => ({
  ...{ id: newId(), accountId: 'a', keyId: 'k', at: Date.now(), face: 'reader', endpoint: 'reader', model: '' },
  ...{ tokens: 1, status: 200, durationMs: 1, hold: undefined },
});

it('leaves charges that arrive during a write to the next one', async () => {
  const dir = mkdtempSync(path.join(os.tmpdir(), 'charges-'));
  onTestFinished(() => rmSync(dir, { recursive: true }));
  const store = await openStore<Tables>({ file: ACCOUNT_TABLES.fileIn(dir) }, ACCOUNT_TABLES);
  onTestFinished(() => store.close());
  const stored = async () =>
    Number(
      (
        await store.db
          .selectFrom('usage_details')
          .select((eb) => eb.fn.countAll().as('all'))
          .executeTakeFirst()
      )?.all,
    );
  let added = 0;
  const add = (count: number) => {
    for (let n = 0; n < count; n++) groups.add(newCharge());
    added += count;
  };
  // After each group that is written, more than a group arrives.
  const release = () => {
    if (added < 3_000) add(300);
  };
  const groups = await openChargeGroups({ store, folder: dir }, { release });
  add(510);
  await groups.writeAll();
  // Two full groups, and a third one that some of the later charges joined.
  expect(await stored()).toBe(750);
  expect(groups.hasWaiting()).toBe(true);
  while (groups.hasWaiting()) await groups.writeAll();
  expect(await stored()).toBe(added);
});
