/**
 * Memory over 2,000 mixed reads: `npm run bench:memory`. Reads pages, JSON, PDF and Word files that are all different,
 * and cached pages, four at a time. Garbage of the main thread is collected before each measurement. The result is the
 * slope over the second half, and what is left after a time without requests, when the server collects the garbage of
 * all threads. The heaps of the threads grow to their final size during the first few thousand reads. Pass a larger
 * number as argument to see where the growth ends.
 */
import { once } from 'node:events';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { Document, Packer, Paragraph } from 'docx';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { get } from './load.ts';
import { report } from './report.ts';
import { articlePage, build, descendantsMb, machine, residentMb, serve, sized } from './support.ts';

const READS = Number(process.argv[2] ?? sized(2_000, 20));
const LOOKS = sized(20, 4);
const AT_ONCE = 4;
/** Longer than the server waits before it collects garbage. */
const IDLE_MS = sized(25_000, 1_000);
/** Makes the server collect its garbage on SIGUSR2. */
const COLLECTING = ['--expose-gc', '--import', 'data:text/javascript,process.on("SIGUSR2",()=>{gc();gc()})'];

const sentence = (n: number) => `The pot of tea number ${n} stands on the table and the steam goes up past the window.`;

async function pdf(): Promise<Buffer> {
  const document = await PDFDocument.create();
  const font = await document.embedFont(StandardFonts.Helvetica);
  for (let at = 0; at < 3; at++) {
    const sheet = document.addPage();
    for (let line = 0; line < 30; line++) {
      sheet.drawText(sentence(at * 30 + line), { x: 50, y: 780 - line * 20, size: 11, font });
    }
  }
  return Buffer.from(await document.save());
}

const word = (): Promise<Buffer> =>
  Packer.toBuffer(
    new Document({
      sections: [{ children: Array.from({ length: 100 }, (_, n) => new Paragraph(sentence(n))) }],
    }),
  );

const article = articlePage();
const KINDS: Record<string, { type: string; body: (name: string) => string | Buffer }> = {
  html: { type: 'text/html; charset=utf-8', body: (name) => article.replace('<h1>', `<h1>${name} `) },
  json: {
    type: 'application/json',
    body: (name) => JSON.stringify({ name, words: Array.from({ length: 200 }, (_, n) => sentence(n)) }),
  },
  pdf: {
    type: 'application/pdf',
    body: (
      (file) => () =>
        file
    )(await pdf()),
  },
  docx: {
    type: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
    body: (
      (file) => () =>
        file
    )(await word()),
  },
  kept: { type: 'text/html; charset=utf-8', body: () => article },
};
const NAMES = Object.keys(KINDS);

const site = http.createServer((request, response) => {
  const [, kind = '', name = ''] = request.url!.split('/');
  response.writeHead(200, { 'content-type': KINDS[kind]!.type });
  response.end(KINDS[kind]!.body(name));
});
site.listen(0, '127.0.0.1');
await once(site, 'listening');
const { port } = site.address() as { port: number };

build();
const server = await serve({ LECTERN_ALLOW_NETWORKS: `127.0.0.1:${port}` }, COLLECTING);

let next = 0;
async function reads(until: number): Promise<void> {
  const one = async () => {
    while (next < until) {
      const n = next++;
      const kind = NAMES[n % NAMES.length]!;
      const name = kind === 'kept' ? n % 10 : n;
      const { status, body } = await get(`${server.url}/http://127.0.0.1:${port}/${kind}/${name}`);
      if (status !== 200 || !/the steam goes up|Tea and rain/.test(body))
        throw new Error(`${kind}: ${status} ${body.slice(0, 300)}`);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, one));
}

async function look() {
  process.kill(server.pid, 'SIGUSR2');
  await sleep(1_000);
  return { reads: next, server: residentMb(server.pid), others: descendantsMb(server.pid) };
}

/** Slope in MB per 1,000 reads, by least squares. */
function slope(points: readonly { reads: number }[], of: 'server' | 'others'): number {
  const values = points.map((point) => [point.reads, (point as unknown as Record<string, number>)[of]!] as const);
  const meanX = values.reduce((sum, [x]) => sum + x, 0) / values.length;
  const meanY = values.reduce((sum, [, y]) => sum + y, 0) / values.length;
  const above = values.reduce((sum, [x, y]) => sum + (x - meanX) * (y - meanY), 0);
  return (1000 * above) / values.reduce((sum, [x]) => sum + (x - meanX) ** 2, 0);
}

const looks = [await look()];
let idle: Omit<(typeof looks)[number], 'reads'>;
try {
  for (let at = 1; at <= LOOKS; at++) {
    await reads(Math.round((READS * at) / LOOKS));
    looks.push(await look());
  }
  await sleep(IDLE_MS);
  idle = { server: residentMb(server.pid), others: descendantsMb(server.pid) };
} finally {
  await server.stop();
  site.close();
}

console.log(`${machine()}; ${READS} reads (${NAMES.join(', ')} in turn), ${AT_ONCE} at once\n`);
report(
  'memory',
  ['reads', 'server MB', 'its processes MB'],
  [
    ...looks.filter((_, at) => at % 4 === 0).map(({ reads: done, server: mb, others }) => [String(done), mb, others]),
    [`${READS}, then ${IDLE_MS / 1_000} s idle`, idle.server, idle.others],
  ],
);
const half = looks.slice(LOOKS / 2);
console.log(`\nslope of the second half: ${slope(half, 'server').toFixed(1)} MB per 1,000 reads (server),`);
console.log(`${slope(half, 'others').toFixed(1)} MB per 1,000 reads (its processes)`);
