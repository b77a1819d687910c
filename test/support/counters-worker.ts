/** A process that takes from a shared store of counters on the orders of its parent. */
import { openPlace, passing, type StorePlace, type Wave } from './counters-places.ts';

let nowMs = 0;
const place = JSON.parse(process.argv[2]!) as StorePlace;
const counters = { own: await openPlace(place, {}), told: await openPlace(place, { clock: () => nowMs }) };
process.on('message', async (wave: Wave) => {
  nowMs = wave.nowMs ?? 0;
  process.send!(await passing(wave.nowMs === undefined ? counters.own : counters.told, wave));
});
process.on('disconnect', () => process.exit());
process.send!('ready');
