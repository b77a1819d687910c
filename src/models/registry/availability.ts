/** Which models could serve now, by where they run and what is on this machine. */

import type { Hub } from '../hub/hub.ts';
import type { ModelRow } from './catalogue.ts';
import { isNonCommercial } from './known-models.ts';
import type { Availability, AvailabilityCheck } from './registry.ts';

export interface AvailabilityOptions {
  readonly hub: Pick<Hub, 'onDisk'>;
  /** `off`: what is not on this machine cannot be had. */
  readonly download: 'on' | 'off';
  /** Whether models can be run here at all. */
  readonly hasRuntime: boolean;
}

/** A model whose licence forbids use for profit is only served when the operator has fetched it. */
export function createAvailability({ hub, download, hasRuntime }: AvailabilityOptions): AvailabilityCheck {
  const here = new Set<string>();
  const availability = (row: ModelRow): Availability => {
    if (row.runs.on !== 'onnx') return 'here';
    if (!hasRuntime) return 'away';
    if (here.has(row.id)) return 'here';
    // A folder of the operator's is never filled from the hub.
    if (row.runs.folder !== undefined) return 'away';
    return download === 'on' && !isNonCommercial(row.licence) ? 'download' : 'away';
  };
  return {
    availability,
    async look(rows) {
      for (const row of rows) {
        if (row.runs.on !== 'onnx') continue;
        if (await hub.onDisk(row)) here.add(row.id);
        else here.delete(row.id);
      }
    },
  };
}
