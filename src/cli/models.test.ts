import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { quietContext } from '../../test/support/quiet-context.ts';
import { startTestHub, type TestHub } from '../models/hub/hub-server.suite.ts';
import { modelsCommand } from './models.ts';
// The module that the command loads when it runs.
import '#models/index.ts';

let dataDir: string;
let hub: TestHub;
let out: string[];
let progress: string[] = [];
let notes: string[];

beforeEach(async () => {
  dataDir = await mkdtemp(path.join(os.tmpdir(), 'models-'));
  hub = await startTestHub('jinaai/jina-embeddings-v3');
  const file = (text: string, large: boolean) => ({ bytes: Buffer.from(text), large });
  hub.files.set('tokenizer.json', file('{}', false));
  hub.files.set('onnx/model.onnx', file('graph', true));
  hub.files.set('onnx/model.onnx_data', file('weights', true));
});

afterEach(async () => {
  await hub.close();
  await rm(dataDir, { recursive: true, force: true });
});

async function run(...args: string[]): Promise<string> {
  out = [];
  notes = [];
  progress = [];
  const command = modelsCommand({
    ...quietContext,
    environment: { LECTERN_DATA_DIR: dataDir, LECTERN_MODEL_HUB_URL: hub.url },
    print: (line) => void out.push(line),
    note: (line) => void notes.push(line),
    // A terminal shows the progress in one line.
    rewrite: (line) => void (line && progress.push(line)),
  });
  await command.parseAsync(args, { from: 'user' });
  return out.join('\n');
}

const lineOf = async (id: string) => (await run('list')).split('\n').find((line) => line.startsWith(id));

describe('lectern models', () => {
  it('lists known models and marks non-commercial ones', async () => {
    expect(await lineOf('multilingual-e5-small')).toMatch(/embed +384 +512 +470 MB +MIT +no$/);
    expect(await lineOf('jina-embeddings-v3')).toMatch(/CC-BY-NC-4\.0 \(non-commercial\) +no$/);
    expect(hub.requests).toEqual([]);
  });

  it('downloads a model after showing its size and license', async () => {
    const folder = await run('pull', 'jina-embeddings-v3');
    expect(folder).toBe(path.join(dataDir, 'models', 'jinaai--jina-embeddings-v3@main'));
    expect(notes.slice(0, 2)).toEqual([
      'jina-embeddings-v3: 3 files of jinaai/jina-embeddings-v3 at main, 1 MB',
      'license: CC-BY-NC-4.0 (commercial use requires permission from its owner)',
    ]);
    expect(progress.at(-1)).toMatch(/% of 1 MB/);
    expect(await lineOf('jina-embeddings-v3')).toMatch(/yes$/);
    await run('pull', 'jinaai/jina-embeddings-v3');
    expect(notes).toEqual(['jina-embeddings-v3 is already downloaded']);
  });

  it('shows and removes it', async () => {
    await run('pull', 'jina-embeddings-v3');
    expect(await run('show', 'jina-embeddings-v3')).toContain('embed, 1024 dimensions, can be shortened to 32, 64');
    expect(JSON.parse(await run('show', 'jina-embeddings-v3', '--json'))).toMatchObject({ here: true, bytes: 14 });
    expect(await run('remove', 'jina-embeddings-v3')).toBe('jina-embeddings-v3 removed');
    expect(await run('remove', 'jina-embeddings-v3')).toBe('jina-embeddings-v3 was not downloaded');
  });

  it('reports an unknown model', async () => {
    await expect(run('pull', 'no-such-model')).rejects.toThrow('no such local model: no-such-model');
  });

  it('says what to do when offline', async () => {
    await hub.close();
    const failed = expect(run('pull', 'jina-embeddings-v3')).rejects;
    // The error must not recommend the command that has just failed.
    await failed.toThrow(/the hub cannot be reached(?!.*lectern models pull)/);
  });
});
