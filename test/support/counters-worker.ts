/** A process that takes units from a shared counter store when its parent sends a message. */
import { type Burst, countSuccesses, openSharedCounters, type StoreLocation } from './shared-counters.ts';

let nowMs = 0;
const location = JSON.parse(process.argv[2]!) as StoreLocation;
const counters = {
  storeClock: await openSharedCounters(location, {}),
  manual: await openSharedCounters(location, { clock: () => nowMs }),
};
process.on('message', async (wave: Burst) => {
  nowMs = wave.nowMs ?? 0;
  process.send!(await countSuccesses(wave.nowMs === undefined ? counters.storeClock : counters.manual, wave));
});
process.on('disconnect', () => process.exit());
process.send!('ready');
