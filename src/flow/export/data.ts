/** Executor data that must outlive its container. */
import { problem } from '#errors.ts';
import type { DeploymentDefinition, ExecutorSource } from '../definition/definition.ts';
import { COLLECTION_NAMES, DEFAULT_COLLECTION } from '../executors/collection.ts';

const MODES = ['ro', 'rw'];

/** An entry of the `volumes` option. */
export interface Volume {
  /** Folder on the host, or volume name; `undefined` if not specified. */
  readonly source: string | undefined;
  /** Path in the container. */
  readonly target: string;
  readonly isReadOnly: boolean;
}

/** Reads the `volumes` option: `target`, `source:target` or `source:target:ro`. */
export function readVolumes({ name, rest }: DeploymentDefinition): Volume[] {
  return [rest.volumes ?? []].flat().map((volume) => {
    const parts = typeof volume === 'string' ? volume.split(':') : [];
    const target = parts.length > 1 ? parts[1] : parts[0];
    const mode = parts[2] ?? 'rw';
    if (!target?.startsWith('/') || parts.length > 3 || !MODES.includes(mode)) {
      throw problem('ParamValidationError', {
        path: 'volumes',
        message: `volumes of ${name}: expected "/path", "source:/path" or "source:/path:ro", not ${JSON.stringify(volume)}`,
      });
    }
    return { source: parts.length > 1 ? parts[0] : undefined, target, isReadOnly: mode === 'ro' };
  });
}

/** The collection that a built-in executor stores in the data folder. */
export function collectionOf({ uses, modules, options }: ExecutorSource): string | undefined {
  const isBuiltIn = typeof uses === 'string' && modules.length === 0 && COLLECTION_NAMES.includes(uses);
  return isBuiltIn ? String(options.collection ?? DEFAULT_COLLECTION) : undefined;
}

/** Whether data of the executor must outlive its container. */
export const keepsData = (one: DeploymentDefinition): boolean =>
  one.workspace !== undefined ||
  one.rest.volumes !== undefined ||
  [one.source, one.before, one.after].some((source) => source && collectionOf(source) !== undefined);
