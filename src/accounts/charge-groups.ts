/**
 * Charges that are waiting to be written to the database, in groups. During a long database outage, most of them are
 * saved to files.
 */
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { ChargeJournal } from './charge-journal.ts';
import type { ChargeQueueOptions } from './charge-queue.ts';
import { abandonedJournals } from './journal-files.ts';
import { type Pending, readPending, savePending } from './pending.ts';
import type { Charge } from './records.ts';
import { writeCharges } from './usage-store.ts';

/** Maximum number of charges in one transaction, so that other transactions do not have to wait long. */
const GROUP_SIZE = 250;

export interface ChargeGroups {
  add(charge: Charge): void;
  /** Whether charges are waiting, in memory or in files. */
  hasWaiting(): boolean;
  /** Writes all waiting charges to the database. */
  writeAll(): Promise<void>;
  /** Saves charges beyond `maxWaiting` to a file, which limits the memory used during a long outage. */
  saveExcess(): Promise<void>;
  /** Saves all charges in memory to a file, before the process ends. */
  saveAll(): Promise<void>;
  /** Looks for the journals of killed processes, which the next `writeAll` loads. */
  findAbandoned(): Promise<void>;
}

/** Opens the groups, and loads the charges saved by an earlier process. */
export async function openChargeGroups(
  options: ChargeQueueOptions,
  journal: Pick<ChargeJournal, 'release'>,
): Promise<ChargeGroups> {
  const { store, folder, maxWaiting = 200_000, log } = options;
  /** Groups of charges that have not been written yet. New charges are added to the last group. */
  const groups: Charge[][] = [];
  /** The files whose charges are also in `groups`. */
  let loaded = await loadPending();
  /** Whether there are files whose charges are not in `groups`. */
  let hasSaved = false;

  function add(charge: Charge): void {
    const last = groups.at(-1);
    if (last && last.length < GROUP_SIZE) last.push(charge);
    else groups.push([charge]);
  }

  async function loadPending(): Promise<Pending> {
    const pending = await readPending(folder, log);
    for (const charge of pending.charges) add(charge);
    return pending;
  }

  async function writeGroups(): Promise<void> {
    // Charges that arrive in the meantime wait for the next write. Otherwise, a busy server would write groups of a few
    // charges without end.
    for (let left = groups.length; left > 0; left--) {
      const group = groups.shift()!;
      try {
        await writeCharges(store, group);
        journal.release(group);
      } catch (error) {
        groups.unshift(group);
        throw error;
      }
      // SQLite writes synchronously, so this loop would otherwise block all requests.
      await yieldToEventLoop();
    }
    await loaded.remove();
  }

  async function writeAll(): Promise<void> {
    await writeGroups();
    while (hasSaved) {
      hasSaved = false;
      loaded = await loadPending();
      await writeGroups();
    }
  }

  /** Saves all groups except the first, which remains in memory for the next attempt. */
  async function saveExcess(): Promise<void> {
    if (groups.length * GROUP_SIZE <= maxWaiting) return;
    const excess = groups.splice(1);
    hasSaved = true;
    try {
      await savePending(folder, excess.flat());
      journal.release(excess.flat());
      log?.warn(`more than ${maxWaiting} charges wait for the database; the rest is kept in files`);
    } catch (error) {
      groups.splice(1, 0, ...excess);
      log?.warn({ err: error }, 'usage could not be saved to a file; it stays in memory');
    }
  }

  return {
    add,
    hasWaiting: () => groups.length > 0 || hasSaved,
    writeAll,
    saveExcess,
    async saveAll() {
      if (groups.length) await savePending(folder, groups.flat());
      journal.release(groups.flat());
      await loaded.remove();
    },
    async findAbandoned() {
      hasSaved ||= (await abandonedJournals(folder)).length > 0;
    },
  };
}
