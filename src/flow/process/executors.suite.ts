/** A user's executor module, loaded in this process or another. */
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { symbols } from 'pino';
import { createLog, type Log } from '#telemetry/log.ts';
import { programFile } from '../../../test/support/program.ts';

/**
 * The location from which executors import `lectern/flow`: the sources, or the built package if they run in another
 * process.
 */
export const flowIndex = async (ownProcesses: boolean): Promise<string> =>
  ownProcesses
    ? path.join(path.dirname(await programFile()), 'flow/index.js')
    : path.resolve(import.meta.dirname, '../index.ts');

/** Folder of the module, removed by the caller. */
export function writeModule(name: string, index: string, body: string): { folder: string; file: string } {
  const folder = mkdtempSync(path.join(os.tmpdir(), 'flow-modules-'));
  const file = path.join(folder, name);
  writeFileSync(file, moduleText(index, body));
  return { folder, file };
}

export const moduleText = (index: string, body: string): string =>
  `import { Document, Executor, NdArray } from ${JSON.stringify(index)};\n${body}`;

export type LogLine = Readonly<Record<string, unknown>>;

/** A log that collects its lines. */
export function createRecordingLog(): { readonly log: Log; lines(): readonly LogLine[] } {
  const all: LogLine[] = [];
  const log = createLog('info');
  const { streamSym } = symbols as unknown as Record<string, symbol>;
  Object.assign(log, { [streamSym!]: { write: (line: string) => all.push(JSON.parse(line)) } });
  return { log, lines: () => all };
}
