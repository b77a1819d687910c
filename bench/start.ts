/** From the start of the process to the first ready answer, and idle memory: `npm run bench:start`. Baseline: `node -e 0`. */
import { execFileSync } from 'node:child_process';
import { build, machine, median, residentMb, serve, table } from './support.ts';

const RUNS = Number(process.argv[2] ?? 7);

build();
const ready: number[] = [];
const memory: number[] = [];
const bare: number[] = [];
for (let run = 0; run < RUNS; run++) {
  const from = performance.now();
  execFileSync(process.execPath, ['-e', '0']);
  bare.push(performance.now() - from);
  const server = await serve({ LECTERN_BROWSER: 'none' });
  ready.push(server.readyMs);
  await new Promise((resolve) => setTimeout(resolve, 1000));
  memory.push(residentMb(server.pid));
  await server.stop();
}
console.log(`${machine()}; ${RUNS} runs\n`);
const row = (name: string, values: number[]) => [name, Math.min(...values), median(values), Math.max(...values)];
console.log(
  table(
    ['', 'least', 'median', 'most'],
    [row('`node -e 0`, ms', bare), row('start to ready, ms', ready), row('idle memory, MB resident', memory)],
  ),
);
