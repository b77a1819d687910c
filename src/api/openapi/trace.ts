/** A trace as the descriptions of the faces have it: one shape on all of them. */
import { SPANS } from '#telemetry/trace.ts';

const number = { type: 'number', minimum: 0 };

export const TRACE_SCHEMA = {
  type: 'object',
  description: 'When `trace` was asked for: what the request went through and how long each step took.',
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
