/** Determines which models can be served now, depending on where they run and which files are on this machine. */

import type { Hub } from '../hub/hub.ts';
import type { ModelRow } from './catalogue.ts';
import { isNonCommercial } from './known-models.ts';
import type { Availability, AvailabilityCheck } from './registry.ts';

export interface AvailabilityOptions {
  readonly hub: Pick<Hub, 'onDisk'>;
  /** `off`: models that are not on this machine are unavailable. */
  readonly download: 'on' | 'off';
}

/** A model with a non-commercial licence is served only if the operator has downloaded it. */
export function createAvailability({ hub, download }: AvailabilityOptions): AvailabilityCheck {
  const onThisMachine = new Set<string>();
  const availability = (row: ModelRow): Availability => {
    if (row.runs.on !== 'onnx') return 'here';
    if (onThisMachine.has(row.id)) return 'here';
    // An operator's own folder is never filled with files from the hub.
    if (row.runs.folder !== undefined) return 'away';
    if (row.runs.unpublished) return 'away';
    return download === 'on' && !isNonCommercial(row.licence) ? 'download' : 'away';
  };
  return {
    availability,
    async look(rows) {
      for (const row of rows) {
        if (row.runs.on !== 'onnx') continue;
        if (await hub.onDisk(row)) onThisMachine.add(row.id);
        else onThisMachine.delete(row.id);
      }
    },
  };
}
