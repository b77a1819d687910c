/** Opens the local models, with the components that load them and tokenize their inputs. */
import type { Config } from '#config.ts';
import { type ModelHost, modelsDir, openModelHost } from '#models/index.ts';
import { countTokens, keepTokens, loadTokens } from '#reader/index.ts';
import type { Log } from '#telemetry/log.ts';
import type { Foundation } from './foundation.ts';
import { isRemote } from './remote-work.ts';

export const TOKENS = { load: loadTokens, count: countTokens, keep: keepTokens };

export const openModelModule = (
  config: Config,
  { network, documents, ocr, temporaryDir, observe, workQueue }: Foundation,
  log: Log,
): Promise<ModelHost> =>
  openModelHost(config, {
    media: { fetch: network.fetch, documents, ocr, temporaryDir },
    dir: modelsDir(config.dataDir),
    fetch: network.trusted,
    tokens: TOKENS,
    log,
    onBatch: observe.onBatch,
    work: workQueue && isRemote(config, 'embed') ? workQueue.work('embed') : undefined,
  });
