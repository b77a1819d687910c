/** The environment of the server's child processes: it disables reports and contains no secrets. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createProcessPool } from '#concurrency/processes.ts';
import { createLibreOffice } from '#documents/office/libreoffice.ts';
import { createFfmpeg } from '#models/media/ffmpeg.ts';
import { createModelProcess } from '#models/onnx/model-process.ts';
import { smallModel, writeTestModel } from '#models/onnx/test-model.suite.ts';
import { findTesseractCli } from '#ocr/engines/tesseract/cli.ts';
import { startBench } from '#reader/engines/browser/browser.suite.ts';

type Environment = Record<string, string | undefined>;

const LONG_MS = 120_000;
const { signal } = new AbortController();
const isLinux = process.platform === 'linux';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(path.join(os.tmpdir(), 'lectern-children-'));
  vi.stubEnv('LECTERN_CHAT_KEY', 'a secret');
  vi.stubEnv('HTTPS_PROXY', 'http://proxy.example:3128');
  vi.stubEnv('HOME', '/home/somebody');
  vi.stubEnv('LC_ALL', 'C');
  vi.stubEnv('SSLKEYLOGFILE', '/home/somebody/keys');
  vi.stubEnv('ORT_DISABLE_TELEMETRY', undefined);
});
afterAll(() => {
  vi.unstubAllEnvs();
  rmSync(folder, { recursive: true, force: true });
});

/** A program that records its environment, regardless of its arguments. */
function recorder(name: string): { program: string; environment: () => Environment } {
  const program = path.join(folder, name);
  const file = path.join(folder, `${name}.env`);
  writeFileSync(program, `#!/bin/sh\n/usr/bin/env -0 > ${file}\n`, { mode: 0o700 });
  return { program, environment: () => parsed(readFileSync(file, 'utf8')) };
}

const parsed = (text: string): Environment =>
  Object.fromEntries(
    text.split('\0').flatMap((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [] : [[line.slice(0, at), line.slice(at + 1)]];
    }),
  );

const ofProcess = (pid: number): Environment => parsed(readFileSync(`/proc/${pid}/environ`, 'utf8'));

const STARTED: Readonly<Record<string, () => Promise<Environment>>> = {
  async 'a process for files'() {
    const worker = path.join(folder, 'worker.mjs');
    writeFileSync(worker, 'export default () => ({ ...process.env });');
    const made = createProcessPool<null, Environment>({ worker: pathToFileURL(worker), count: 1, memoryMb: 256 });
    try {
      return await made.run(null, { timeoutMs: LONG_MS });
    } finally {
      await made.close();
    }
  },
  async Tesseract() {
    const { program, environment } = recorder('tesseract');
    await findTesseractCli({ program, temporaryDir: folder });
    return environment();
  },
  async ffmpeg() {
    const { program, environment } = recorder('ffmpeg');
    const clip = createFfmpeg({ program, temporaryDir: folder, timeoutMs: LONG_MS });
    await clip.samples(new Uint8Array(8), { samplesPerSecond: 8_000, seconds: 1, signal }).catch(() => {});
    return environment();
  },
  async LibreOffice() {
    const { program, environment } = recorder('soffice');
    const input = path.join(folder, 'input.doc');
    writeFileSync(input, 'x');
    const office = createLibreOffice({ program, temporaryDir: folder });
    await office.convert(input, 'application/msword', 'docx', folder, signal, LONG_MS).catch(() => {});
    return environment();
  },
};

const STARTED_ON_LINUX: typeof STARTED = {
  async 'a model'() {
    const files = await writeTestModel(path.join(folder, 'model'), smallModel().file);
    const model = createModelProcess({
      id: 'test',
      spec: async () => ({ ...files, threads: 1, contextTokens: 64 }) as never,
      maxBytes: 1e9,
      timeoutMs: LONG_MS,
      loadTimeoutMs: LONG_MS,
      log: { info() {}, warn() {} },
    });
    try {
      await model.load();
      return ofProcess(model.pid!);
    } finally {
      await model.close();
    }
  },
  async Chromium() {
    const bench = await startBench();
    try {
      await bench.pool.warm();
      return ofProcess(bench.pool.status().pid!);
    } finally {
      await bench.close();
    }
  },
};

describe.skipIf(process.platform === 'win32')('the environment', { timeout: LONG_MS }, () => {
  it.each(Object.entries({ ...STARTED, ...(isLinux && STARTED_ON_LINUX) }))('of %s', async (_, start) => {
    const given = await start();
    expect(given.ORT_DISABLE_TELEMETRY).toBe('1');
    expect(given.DO_NOT_TRACK).toBe('1');
    expect(given.PATH).toBe(process.env.PATH);
    expect(given.HOME).toMatch(/./);
    expect(given.HOME).not.toBe('/home/somebody');
    expect(given.LC_ALL).not.toBe('C');
    const text = JSON.stringify(given);
    for (const own of ['a secret', 'proxy.example', 'SSLKEYLOGFILE', '/home/somebody']) expect(text).not.toContain(own);
  });
});
