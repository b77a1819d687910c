/** Tests which executors run in their own processes. */
// Full run only: starts executor processes.
import { rmSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { type AddOptions, defineFlow } from '../definition/define-flow.ts';
import { ask, closeAll, flowOf, Mark } from '../flow.suite.ts';
import { createFlow } from '../flow.ts';
import { flowIndex, writeModule } from '../process/executors.suite.ts';

const BODY = `export class Where extends Executor {
  static requests = { '/default': 'where' };
  where() { return { pid: process.pid }; }
}`;

let inside: ReturnType<typeof writeModule>;
let outside: ReturnType<typeof writeModule>;
beforeAll(async () => {
  inside = writeModule('where.mjs', await flowIndex(false), BODY);
  outside = writeModule('where.mjs', await flowIndex(true), BODY);
}, 120_000);
afterAll(() => {
  for (const { folder } of [inside, outside]) rmSync(folder, { recursive: true, force: true });
});
afterEach(closeAll);

async function isInside(add: AddOptions, ownProcesses?: boolean): Promise<boolean> {
  const flow = await flowOf(
    [{ name: 'a', uses: 'Where', ...add }],
    {},
    ownProcesses === undefined ? {} : { ownProcesses },
  );
  const { parameters } = await ask(flow);
  return (parameters.__results__ as { 'a/rep-0': { pid: number } })['a/rep-0'].pid === process.pid;
}

it('runs module executors in processes as configured; the executor option wins', async () => {
  expect(await isInside({ modules: inside.file })).toBe(true);
  expect(await isInside({ modules: outside.file }, true)).toBe(false);
  expect(await isInside({ modules: outside.file, ownProcess: true })).toBe(false);
  expect(await isInside({ modules: inside.file, ownProcess: false }, true)).toBe(true);
});

it('never runs program classes or built-in executors in a process', async () => {
  const start = (uses: AddOptions['uses'], more: AddOptions) =>
    createFlow(
      defineFlow()
        .add({ name: 'a', uses, ...more })
        .definition(),
      { ownProcesses: true },
    ).start();
  await start(Mark, {});
  await start('BaseExecutor', { ownProcess: true });
  await expect(start(Mark, { ownProcess: true })).rejects.toThrow(
    'a: own_process needs an executor from a module: a class of this program cannot run in another process',
  );
});

it('reports options that cannot be sent to another process', async () => {
  const usesWith = { run: () => 1 };
  const flow = flowOf([{ name: 'a', uses: 'Where', modules: outside.file, usesWith }], {}, { ownProcesses: true });
  await expect(flow).rejects.toThrow(/a: the options cannot be sent to another process: .*could not be cloned/);
});
