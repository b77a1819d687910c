/** Opens the built-in executors for flows and executors that run without the server. */
import { readConfig } from '#config.ts';
import { BUILT_IN_NAMES, type DeploymentDefinition, type ExecutorClass } from '#flow/index.ts';
import { createLog } from '#telemetry/log.ts';

export interface BuiltInContext {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface OpenExecutors {
  readonly executors: Readonly<Record<string, ExecutorClass>>;
  /** Releases the resources behind the executors. */
  close(): Promise<void>;
}

const NOTHING: OpenExecutors = { executors: {}, close: async () => {} };

const isBuiltIn = (uses: unknown): boolean => typeof uses === 'string' && BUILT_IN_NAMES.includes(uses);

/**
 * Opens the reader, models and collections with the server's settings if a deployment uses a built-in executor, or
 * could use one later because its file is reloaded.
 */
export async function openBuiltInExecutors(
  deployments: readonly DeploymentDefinition[],
  { version, environment }: BuiltInContext,
  isReloaded = false,
): Promise<OpenExecutors> {
  const sources = deployments.flatMap(({ source, before, after }) => [source, before, after]);
  if (!isReloaded && !sources.some((source) => isBuiltIn(source?.uses))) return NOTHING;
  const [{ createApp }, { processTemporaryFolder }] = await Promise.all([
    import('#app.ts'),
    import('#app/temporary-folder.ts'),
  ]);
  await processTemporaryFolder();
  // No port is opened, so no authentication is needed. The flow itself decides who may use it.
  const config = { ...readConfig({ environment }), auth: 'off', flow: undefined, adminSecret: undefined } as const;
  const app = await createApp({
    config,
    version,
    log: createLog(config.logLevel, 'stdout', config.logFormat),
    environment,
  });
  return { executors: app.flow.executors, close: () => app.close() };
}
