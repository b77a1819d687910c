/** Timeline of a request: one bar per span, to scale. */

import { type Fields, isRecord } from './fields.ts';
import { Scrollable } from './scrollable.tsx';

const LABEL_WIDTH = 150;
const WIDTH = 600;
const ROW = 26;

export function TraceView({ trace }: { trace: Fields }) {
  const spans = (Array.isArray(trace.spans) ? trace.spans.filter(isRecord) : []).map((span) => ({
    name: String(span.name),
    startMs: Number(span.start_ms) || 0,
    durationMs: Number(span.duration_ms) || 0,
  }));
  const end = Math.max(
    Number(trace.duration_ms) || 0,
    ...spans.map(({ startMs, durationMs }) => startMs + durationMs),
    1,
  );
  const scale = (WIDTH - LABEL_WIDTH - 70) / end;
  const counts = isRecord(trace.counts) ? Object.entries(trace.counts) : [];
  const facts = [
    ['total', `${round(end)} ms`],
    ...['engine', 'cache', 'id'].map((name) => [name, trace[name]]),
    ...counts,
  ];
  return (
    <div class="trace">
      <dl class="facts-list">
        {facts.map(([name, value]) =>
          value === undefined || value === null ? null : (
            <div key={String(name)}>
              <dt>{String(name)}</dt>
              <dd>{typeof value === 'number' ? value.toLocaleString('en') : String(value)}</dd>
            </div>
          ),
        )}
      </dl>
      <Scrollable class="scroll" label="Spans of the request">
        <svg viewBox={`0 0 ${WIDTH} ${spans.length * ROW}`} role="img" aria-label="Spans of the request to scale">
          {spans.map(({ name, startMs, durationMs }, row) => (
            <g key={row}>
              <text x={0} y={row * ROW + 17}>
                {name}
              </text>
              <rect
                x={LABEL_WIDTH + startMs * scale}
                y={row * ROW + 5}
                width={Math.max(durationMs * scale, 2)}
                height={16}
                rx={3}
              />
              <text class="ms" x={LABEL_WIDTH + (startMs + durationMs) * scale + 8} y={row * ROW + 17}>
                {round(durationMs)} ms
              </text>
            </g>
          ))}
        </svg>
      </Scrollable>
    </div>
  );
}

const round = (ms: number) => (ms < 10 ? Math.round(ms * 10) / 10 : Math.round(ms));
