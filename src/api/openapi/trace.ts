/** The schema of a trace, the same in all APIs. */
import { SPANS } from '#telemetry/trace.ts';

const number = { type: 'number', minimum: 0 };

export const TRACE_SCHEMA = {
  type: 'object',
  description: 'With `trace`: the steps of the request and how long each took.',
  required: ['id', 'duration_ms', 'spans', 'counts'],
  properties: {
    id: { type: 'string', pattern: '^[0-9a-f]{32}$' },
    duration_ms: number,
    spans: {
      type: 'array',
      items: {
        type: 'object',
        required: ['name', 'start_ms', 'duration_ms'],
        properties: { name: { type: 'string', enum: Object.keys(SPANS) }, start_ms: number, duration_ms: number },
        additionalProperties: true,
      },
    },
    counts: { type: 'object', additionalProperties: number },
    cache: { type: 'string', enum: ['hit', 'miss', 'stale', 'off'] },
    engine: { type: 'string' },
  },
};
