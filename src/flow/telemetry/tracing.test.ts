/** The spans of requests in a flow. */
import { afterEach, expect, it } from 'vitest';
import type { TraceParent } from '#telemetry/trace.ts';
import { ask, closeAll, flowOf } from '../flow.suite.ts';
import type { FlowTracing, SpanKind } from './tracing.ts';

afterEach(closeAll);

interface RecordedSpan {
  readonly service: string;
  readonly name: string;
  readonly kind: SpanKind;
  readonly parent: string | undefined;
  readonly id: string;
  failed: boolean | undefined;
}

/** Keeps the spans instead of sending them. */
function recordSpans() {
  const spans: RecordedSpan[] = [];
  const tracing: FlowTracing = {
    tracerOf: (service, { traces }) =>
      traces && {
        start(name, { kind, parent }) {
          const span: RecordedSpan = {
            ...{ service, name, kind, parent: parent?.spanId },
            ...{ id: `span ${spans.length}`, failed: undefined },
          };
          spans.push(span);
          const context: TraceParent = { traceId: parent?.traceId ?? 'new', spanId: span.id, sampled: true };
          return {
            context,
            end(isFailed) {
              span.failed = isFailed;
            },
          };
        },
      },
  };
  return { spans, tracing };
}

const CALL = '/jina.JinaSingleDataRequestRPC/process_single_data';
const headers = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' };

it('are nested: request, call, executor, handler', async () => {
  const { spans, tracing } = recordSpans();
  const executors = [
    { name: 'a', uses: 'Mark', usesRequests: { '/x': 'mark' } },
    { name: 'b', uses: 'Fail' },
  ];
  const flow = await flowOf(executors, { tracing: true }, { tracing });
  await ask(flow, {}, { headers });
  const of = (service: string, name: string, at = 0) =>
    spans.filter((one) => one.service === service && one.name === name)[at]!;
  const request = of('gateway/rep-0', '/jina.JinaRPC/Call');
  expect(request).toMatchObject({ kind: 'server', parent: 'b7ad6b7169203331', failed: true });
  const [first, second] = [of('gateway/rep-0', CALL), of('gateway/rep-0', CALL, 1)];
  expect([first, second]).toMatchObject([
    { kind: 'client', parent: request.id, failed: false },
    { kind: 'client', parent: request.id, failed: true },
  ]);
  expect(of('a/rep-0', CALL)).toMatchObject({ kind: 'server', parent: first.id, failed: false });
  expect(of('a/rep-0', '/x')).toMatchObject({ kind: 'internal', parent: of('a/rep-0', CALL).id, failed: false });
  expect(of('b/rep-0', CALL)).toMatchObject({ parent: second.id, failed: true });
  expect(of('b/rep-0', 'default')).toMatchObject({ parent: of('b/rep-0', CALL).id, failed: true });
  expect(spans).toHaveLength(7);
});

it('of an executor belong to the caller of the gateway if the gateway has none', async () => {
  const { spans, tracing } = recordSpans();
  const flow = await flowOf([{ name: 'a', uses: 'Mark', tracing: true }, { uses: 'Mark' }], {}, { tracing });
  await ask(flow, {}, { headers });
  expect(spans.map(({ service, name, parent }) => [service, name, parent])).toEqual([
    ['a/rep-0', CALL, 'b7ad6b7169203331'],
    ['a/rep-0', 'default', 'span 0'],
  ]);
});
