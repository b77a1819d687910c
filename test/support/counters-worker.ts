/** A process that takes from a shared counter store when its parent sends a message. */
import { openPlace, passing, type StorePlace, type Wave } from './counters-places.ts';

let nowMs = 0;
const location = JSON.parse(process.argv[2]!) as StorePlace;
const counters = {
  storeClock: await openPlace(location, {}),
  manual: await openPlace(location, { clock: () => nowMs }),
};
process.on('message', async (wave: Wave) => {
  nowMs = wave.nowMs ?? 0;
  process.send!(await passing(wave.nowMs === undefined ? counters.storeClock : counters.manual, wave));
});
process.on('disconnect', () => process.exit());
process.send!('ready');
