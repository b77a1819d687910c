/** Loads the optional OpenTelemetry packages, and warns when a collector is unavailable. */
import { createRequire } from 'node:module';
import { ConfigError } from '#config.ts';
import type { Log } from './log.ts';
import { oncePer } from './once-per.ts';

type Api = typeof import('@opentelemetry/api');
type Sdk = typeof import('@opentelemetry/sdk-trace');
type Otlp = typeof import('@opentelemetry/exporter-trace-otlp-http');

export interface OtlpPackages {
  readonly api: Api;
  readonly sdk: Sdk;
  readonly otlp: Otlp;
  readonly resources: ResourcesPackage;
  /** Imports a dependency of the exporter, so that users need not install it themselves. */
  dependency(name: string): unknown;
}

interface ResourcesPackage {
  resourceFromAttributes(
    attributes: Record<string, string>,
  ): NonNullable<NonNullable<ConstructorParameters<Sdk['TracerProvider']>[0]>['resource']>;
}

/** Throws ConfigError if the packages are not installed. `option` is the option that needs them. */
export async function loadOtlpPackages(option: string): Promise<OtlpPackages> {
  try {
    const [api, sdk, otlp] = await Promise.all([
      import('@opentelemetry/api'),
      import('@opentelemetry/sdk-trace'),
      import('@opentelemetry/exporter-trace-otlp-http'),
    ]);
    const fromHere = createRequire(import.meta.url);
    const fromSdk = createRequire(fromHere.resolve('@opentelemetry/sdk-trace'));
    const fromExporter = createRequire(fromHere.resolve('@opentelemetry/exporter-trace-otlp-http'));
    // The exporter depends on the transformer, which depends on the other packages.
    const fromTransformer = createRequire(fromExporter.resolve(TRANSFORMER));
    return {
      api,
      sdk,
      otlp,
      resources: fromSdk('@opentelemetry/resources') as ResourcesPackage,
      dependency: (name) => (name === TRANSFORMER ? fromExporter : fromTransformer)(name),
    };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== 'ERR_MODULE_NOT_FOUND' && code !== 'MODULE_NOT_FOUND') throw error;
    throw new ConfigError(`${option} ${MISSING}`);
  }
}

export const TRANSFORMER = '@opentelemetry/otlp-transformer';

const MISSING =
  'needs two packages that are not installed: npm install @opentelemetry/sdk-trace@2 @opentelemetry/exporter-trace-otlp-http@0.223';

/** Minimum interval between warnings about an unreachable collector. */
const WARN_EVERY_MS = 60_000;

/** Warns that `what` could not be sent, at most once a minute. */
export function rateLimitedWarning(log: Pick<Log, 'warn'> | undefined, what: string): (error: unknown) => void {
  const isDue = oncePer(WARN_EVERY_MS);
  return (error) => {
    if (!isDue()) return;
    // Only the message is logged: the error object contains the response and the URL of the collector.
    log?.warn({ reason: (error as Error).message.slice(0, 300) }, `${what} could not be sent to the collector`);
  };
}
