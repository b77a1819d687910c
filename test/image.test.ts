/** The Dockerfile, as scripts/check-image.mjs reads it. That script carries it out, which takes half an hour. */
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, it } from 'vitest';
import packageFile from '../package.json' with { type: 'json' };
import { copyOf, stagesOf, variablesOf } from '../scripts/dockerfile.mjs';

const ROOT = path.join(import.meta.dirname, '..');
const stages = stagesOf(readFileSync(path.join(ROOT, 'Dockerfile'), 'utf8'));

it('copies only files that exist, or that an earlier stage makes', () => {
  for (const { instructions } of stages) {
    for (const { text } of instructions.filter(({ name }) => name === 'COPY')) {
      const { from, sources, target } = copyOf(text);
      if (from === undefined) expect(sources.filter((source) => !existsSync(path.join(ROOT, source)))).toEqual([]);
      else expect(stages.map(({ name }) => name)).toContain(from);
      expect(target).toMatch(/^\.\//);
    }
  }
});

it('builds with the folders that the documentation is made of', () => {
  const copied = stages[0]!.instructions
    .filter(({ name }) => name === 'COPY')
    .flatMap(({ text }) => copyOf(text).sources);
  const navigation = readFileSync(path.join(ROOT, 'docs/navigation.yml'), 'utf8');
  const pages = [...navigation.matchAll(/- (\S+\.md)/g)].map(([, page]) => page!.split('/')[0]);
  expect([...new Set(pages)].filter((page) => !copied.includes(page!))).toEqual([]);
});

it('runs as an unprivileged user on a Node version that is supported', () => {
  const last = stages.at(-1)!;
  expect(last.base).toBe(stages[0]!.base);
  expect(Number(/^node:(\d+)-/.exec(last.base)?.[1])).toBeGreaterThanOrEqual(
    Number(/\d+/.exec(packageFile.engines.node)),
  );
  expect(last.instructions.find(({ name }) => name === 'USER')?.text).toBe('node');
  expect(variablesOf(last.instructions.find(({ name }) => name === 'ENV')!.text)).toMatchObject({
    LECTERN_DATA_DIR: '/data',
  });
});

it('names an instruction that it does not know', () => {
  expect(() => stagesOf('FROM node:24-bookworm-slim\nSHELL ["bash"]')).toThrow(
    'unknown instruction of a Dockerfile: SHELL',
  );
  expect(stagesOf('FROM a AS b\nRUN one \\\n  # why\n  && two').at(0)?.instructions).toEqual([
    { name: 'RUN', text: 'one && two' },
  ]);
});
