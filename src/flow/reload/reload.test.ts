/** Flow files that change while their flow runs. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Log } from '#telemetry/log.ts';
import { loadFlow } from '../definition/yaml.ts';
import { ask, EXECUTORS, Run, texts, textsOf } from '../flow.suite.ts';
import { reloadFlowOnChange } from './reload-files.ts';
import { createReloadableFlow, type ReloadableFlow } from './reloadable-flow.ts';
import type { FileWatcher } from './watch-files.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'flow-reload-'));
const file = path.join(folder, 'flow.yml');
const config = path.join(folder, 'mark.yml');
const logged: { readonly level: string; readonly text: string }[] = [];
const record =
  (level: string) =>
  (...parts: unknown[]) =>
    void logged.push({
      level,
      text: parts.map((part) => (typeof part === 'string' ? part : JSON.stringify(part))).join(' '),
    });
const log = { level: 'info', info: record('info'), warn: record('warn'), error: record('error') } as unknown as Log;
Object.assign(log, { child: () => log });

const flowText = (more = '', executors = '{ name: a, uses: mark.yml }') =>
  `jtype: Flow\nwith: { reload: true, ${more} }\nexecutors: [${executors}]\n`;
const markText = (mark: string) => `jtype: Mark\nwith: { mark: ${mark} }\n`;

let flow: ReloadableFlow;
let watcher: FileWatcher;
const load = () => loadFlow(file);

beforeAll(async () => {
  writeFileSync(file, flowText());
  writeFileSync(config, markText('one'));
  flow = createReloadableFlow(load(), { executors: { ...EXECUTORS, Run }, log });
  await flow.start();
  watcher = await reloadFlowOnChange({ flow, load, log, intervalMs: 10 });
});
afterAll(async () => {
  watcher?.close();
  await flow?.close(100);
  rmSync(folder, { recursive: true, force: true });
});

const answer = async () => textsOf(await ask(flow, { docs: texts('') }));
const hasLogged = (level: string, text: RegExp) => () =>
  logged.some((one) => one.level === level && text.test(one.text));

it('applies a changed configuration of an executor', async () => {
  expect(await answer()).toEqual(['one']);
  writeFileSync(config, markText('second'));
  await expect.poll(answer).toEqual(['second']);
});

it('applies a changed flow file and says which options need a restart', async () => {
  writeFileSync(file, flowText('title: New', '{ name: a, uses: mark.yml }, { name: b, uses: Mark }'));
  await expect.poll(answer).toEqual(['second b']);
  await expect.poll(hasLogged('warn', /^Restart the flow to apply changes of: title$/)).toBe(true);
});

it('keeps the old flow and logs the error of a broken file', async () => {
  writeFileSync(file, flowText('', '{ name: a, replica: 2 }'));
  await expect.poll(hasLogged('error', /unknown option `replica` of executor `a`.*the old one stays/)).toBe(true);
  expect(await answer()).toEqual(['second b']);
  writeFileSync(file, flowText('', '{ name: a, uses: Nobody, replicas: 3 }'));
  await expect.poll(hasLogged('error', /there is no executor Nobody.*the old one stays/)).toBe(true);
  expect(await answer()).toEqual(['second b']);
});

it('lets requests finish on the old flow', async () => {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const text = flowText('', '{ name: c, uses: Mark }, { name: wait, uses: Run }');
  const definition = { ...loadFlow(text, { baseDir: folder }), file };
  const [mark, wait] = definition.deployments;
  const run = () => released;
  await flow.replace({
    ...definition,
    deployments: [mark!, { ...wait!, source: { ...wait!.source, options: { run } } }],
  });
  const running = ask(flow, { docs: texts('') });
  writeFileSync(file, flowText('', '{ name: d, uses: Mark }'));
  await expect.poll(answerOfNew).toEqual(['d']);
  release();
  expect(textsOf(await running)).toEqual(['c']);
});

/** Does not wait for the executor that blocks requests of the old flow. */
const answerOfNew = async () => (flow.definition.deployments.some(({ name }) => name === 'd') ? answer() : []);
