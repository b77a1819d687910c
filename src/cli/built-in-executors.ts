/** The executors that come with the product, for flows and executors that run without the server. */
import { readConfig } from '#config.ts';
import { BUILT_IN_NAMES, type DeploymentDefinition, type ExecutorClass } from '#flow/index.ts';
import { createLog } from '#telemetry/log.ts';

export interface BuiltInContext {
  readonly version: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

export interface OpenExecutors {
  readonly executors: Readonly<Record<string, ExecutorClass>>;
  /** Ends what they are made of. */
  close(): Promise<void>;
}

const NOTHING: OpenExecutors = { executors: {}, close: async () => {} };

const isBuiltIn = (uses: unknown): boolean => typeof uses === 'string' && BUILT_IN_NAMES.includes(uses);

/** Reader, models and collections with the settings of the server, when one of the deployments needs them. */
export async function openBuiltInExecutors(
  deployments: readonly DeploymentDefinition[],
  { version, environment }: BuiltInContext,
): Promise<OpenExecutors> {
  const sources = deployments.flatMap(({ source, before, after }) => [source, before, after]);
  if (!sources.some((source) => isBuiltIn(source?.uses))) return NOTHING;
  const [{ createApp }, { ownTemporary }] = await Promise.all([import('#app.ts'), import('#app/own-temporary.ts')]);
  await ownTemporary();
  // No port of it is opened: who may use the flow is the flow's own to say.
  const config = { ...readConfig({ environment }), auth: 'off', flow: undefined, adminSecret: undefined } as const;
  const app = await createApp({ config, version, log: createLog(config.logLevel), environment });
  return { executors: app.flow.executors, close: () => app.close() };
}
