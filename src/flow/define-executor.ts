/** One executor from the options of a command line: what a flow's entry says of it, without the flow. */
import type { DeploymentDefinition } from './definition.ts';
import type { Options } from './options.ts';
import { type LoadOptions, parseFlow } from './yaml.ts';

/** Throws a ParamValidationError that names the option at fault. */
export function defineExecutor(
  options: Options,
  how: LoadOptions = {},
): { readonly definition: DeploymentDefinition; readonly warnings: readonly string[] } {
  // JSON is YAML: files, substitution and old names are read as they are in flows.
  const { deployments, warnings } = parseFlow(JSON.stringify({ jtype: 'Flow', executors: [options] }), how);
  return { definition: deployments[0]!, warnings };
}
