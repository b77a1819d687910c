/**
 * The capacity model of docs/guide/scaling.md beside a simulation of the same machines: how busy they are, how long reads
 * wait, and which limit is reached first if more reads arrive than planned. `npm run bench:capacity [-- --rates
 * 10,100,1000,10000]`
 */
import { parseArgs } from 'node:util';
import { BUSY, capacityFor, type Machines, machinesFor, type Simulated, simulate } from './capacity-model.ts';
import { report } from './report.ts';
import { sized } from './support.ts';

const { values } = parseArgs({ options: { rates: { type: 'string', default: sized('10,100,1000,10000', '100') } } });
const READS = sized(400_000, 5_000);
/** Waits from which a limit counts as reached. A read without the browser takes some 10 ms, one with it some 600. */
const LONG_SERVER_WAIT_MS = 100;
const LONG_PAGE_WAIT_MS = 1_000;
/** How much the rate grows in each step of the search for the first limit. */
const STEP = 1.1;
const MOST_STEPS = 30;

const rates = values.rates.split(',').map(Number);
if (!rates.every((rate) => rate > 0)) throw new Error('--rates must be numbers above 0');

const percent = (share: number) => `${(100 * share).toFixed(0)} %`;
/** Two digits, as cores and gigabytes are counted. */
const short = (value: number) => String(value >= 10 ? Math.round(value) : Number(value.toPrecision(2)));
const ms = (value: number) => `${value.toFixed(value < 10 ? 1 : 0)} ms`;

/** The first limit that is reached as the rate grows, and the rate. */
function firstLimit(planned: number, machines: Machines): [string, number] {
  for (let rate = planned, step = 0; step < MOST_STEPS; rate *= STEP, step++) {
    const reached = limitOf(simulate(rate, machines, { reads: READS / 4 }));
    if (reached) return [reached, rate];
  }
  return ['none', planned * STEP ** (MOST_STEPS - 1)];
}

function limitOf({ serverWaitMs, pageWaitMs, browsersBusy, storesBusy, serversBusy }: Simulated): string | undefined {
  if (pageWaitMs > LONG_PAGE_WAIT_MS) return browsersBusy > 0.95 ? 'cores of the browsers' : 'pages of the browsers';
  if (serverWaitMs > LONG_SERVER_WAIT_MS)
    return storesBusy > serversBusy ? 'cores of the stores' : 'cores of the servers';
  return undefined;
}

const plans = rates.map((rate) => {
  const capacity = capacityFor(rate);
  return { rate, capacity, machines: machinesFor(capacity) };
});
console.log(`Calculated for processors that work at most ${percent(BUSY)} of the time:\n`);
report(
  'capacity.model',
  ['reads/s', 'cores of servers', 'servers', 'cores of browsers', 'open pages', 'their GB', 'cores of stores'],
  plans.map(({ rate, capacity: { serverCores, servers, browserCores, pages, pagesMb, storeCores } }) => [
    String(rate),
    short(serverCores),
    String(servers),
    short(browserCores),
    String(pages),
    short(pagesMb / 1_000),
    short(storeCores),
  ]),
);
console.log('\nSimulated on these machines, in whole cores (waits: 99 % of the reads wait at most as long):\n');
report(
  'capacity.simulation',
  [
    'reads/s',
    'servers busy',
    'browsers busy',
    'stores busy',
    'wait for a server',
    'wait for a page',
    'open pages',
    'first limit',
    'at reads/s',
  ],
  plans.map(({ rate, machines }) => {
    const result = simulate(rate, machines, { reads: READS });
    const [limit, at] = firstLimit(rate, machines);
    return [
      String(rate),
      percent(result.serversBusy),
      percent(result.browsersBusy),
      percent(result.storesBusy),
      ms(result.serverWaitMs),
      ms(result.pageWaitMs),
      String(result.openPages),
      limit,
      String(Math.round(at)),
    ];
  }),
);
