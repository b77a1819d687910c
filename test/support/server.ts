/** Starts a whole server in this process, on free ports and with a separate data folder. */
import { mkdtemp, rm } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { type App, type AppOptions, createApp } from '#app.ts';
import { readConfig } from '#config.ts';
import { FEATURES } from '#plans.ts';
import { createLog } from '#telemetry/log.ts';
import { shareBrowser } from './share-browser.ts';

export { SETUP_DATA_DIR, shareBrowser } from './share-browser.ts';

export interface TestServer {
  readonly app: App;
  /** URL of the reader: `http://127.0.0.1:port`. */
  readonly reader: string;
  readonly urls: Readonly<Record<string, string>>;
  readonly dataDir: string;
  close(): Promise<void>;
}

/**
 * `settings` override the configuration. By default, the browser is the one that the set-up found or installed. `parts`
 * replaces parts of the server, such as its name resolution.
 */
export async function startServer(
  settings: Record<string, unknown> = {},
  parts: Pick<AppOptions, 'lookup'> = {},
): Promise<TestServer> {
  const dataDir = await mkdtemp(path.join(os.tmpdir(), 'lectern-test-'));
  shareBrowser(dataDir);
  const flags = {
    dataDir,
    host: '127.0.0.1',
    readerPort: 0,
    searchPort: 0,
    modelPort: 0,
    compatPort: 0,
    flowPort: 0,
    flowGrpcPort: 0,
    logLevel: 'silent',
    // Most tests send many requests and do not test limits.
    keylessRpm: 'none',
    keylessFeatures: [...FEATURES],
    ...settings,
  };
  const config = readConfig({ environment: { LECTERN_BROWSER: process.env.LECTERN_BROWSER }, flags });
  const app = await createApp({ config, version: '0.0.0-test', log: createLog(config.logLevel), ...parts });
  const faces = await app.listen();
  const urls = Object.fromEntries(faces.map(({ name, url }) => [name, url]));
  return {
    app,
    reader: urls.reader!,
    urls,
    dataDir,
    async close() {
      await app.close();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** One event of a stream. */
export interface StreamEvent {
  readonly event: string;
  readonly data: Record<string, unknown>;
}

export const parseEvents = (text: string): StreamEvent[] =>
  text
    .split('\n\n')
    .filter((block) => block.trim())
    .map((block) => {
      const [event = '', data = ''] = block.split('\n');
      return { event: event.replace('event: ', ''), data: JSON.parse(data.replace('data: ', '')) };
    });
