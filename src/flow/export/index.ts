/** Exports a flow as manifests for other platforms, or as a diagram. */
import type { FlowDefinition } from '../definition/definition.ts';
import { compose } from './compose.ts';
import { flowchart } from './flowchart.ts';
import { kubernetes } from './kubernetes.ts';
import type { ExportOptions } from './parts.ts';

export type { ExportOptions } from './parts.ts';
export { exportWarnings } from './warnings.ts';

export interface ExportedFile {
  readonly name: string;
  readonly text: string;
}

/** Throws a ParamValidationError for an executor that other machines cannot load. */
export function exportFlow(
  kind: 'kubernetes' | 'compose' | 'flowchart',
  definition: FlowDefinition,
  options: ExportOptions,
): readonly ExportedFile[] {
  if (kind === 'kubernetes') return kubernetes(definition, options);
  if (kind === 'compose') return [{ name: 'compose.yaml', text: compose(definition, options) }];
  return [{ name: 'flow.mmd', text: flowchart(definition) }];
}
