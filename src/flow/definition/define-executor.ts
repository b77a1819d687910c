/** Defines a single executor without a flow, for the `lectern executor` command. */
import type { DeploymentDefinition } from './definition.ts';
import type { Options } from './options.ts';
import { type LoadOptions, parseFlow } from './yaml.ts';

/** Throws a ParamValidationError that names the invalid option. */
export function defineExecutor(
  options: Options,
  how: LoadOptions = {},
): { readonly definition: DeploymentDefinition; readonly warnings: readonly string[] } {
  // JSON is valid YAML, so files, variables and old names work as in flows.
  const { deployments, warnings } = parseFlow(JSON.stringify({ jtype: 'Flow', executors: [options] }), how);
  return { definition: deployments[0]!, warnings };
}
