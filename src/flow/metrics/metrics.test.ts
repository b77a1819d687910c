import { afterEach, expect, it } from 'vitest';
import { ask, closeAll, flowOf } from '../flow.suite.ts';
import { createRequest } from '../request.ts';
import { createFlowMetrics } from './prometheus.ts';
import { serveMetrics } from './serve-metrics.ts';

afterEach(closeAll);

/** Values by series, without creation times, durations and values that are still 0. */
const seriesOf = (text: string): Record<string, number> =>
  Object.fromEntries(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#') && !/_created\{|_seconds_sum\{/.test(line))
      .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))] as const)
      .filter(([, value]) => value !== 0),
  );

it('counts requests, documents and failures under the expected names', async () => {
  const metrics = createFlowMetrics();
  const flow = await flowOf([{ name: 'mark', uses: 'Mark' }], {}, { observe: metrics.observe });
  await ask(flow);
  await ask(flow);
  const failing = await flowOf([{ name: 'fail', uses: 'Fail' }], {}, { observe: metrics.observe });
  await ask(failing);
  metrics.observe.transferred({ receivedBytes: 10, sentBytes: 200 });
  expect(seriesOf(metrics.text())).toEqual({
    'jina_receiving_request_seconds_count{runtime_name="gateway/rep-0"}': 2,
    'jina_receiving_request_seconds_count{runtime_name="mark/rep-0"}': 2,
    'jina_sending_request_seconds_count{runtime_name="gateway/rep-0"}': 2,
    'jina_successful_requests_total{runtime_name="gateway/rep-0"}': 2,
    'jina_successful_requests_total{runtime_name="mark/rep-0"}': 2,
    'jina_failed_requests_total{runtime_name="gateway/rep-0"}': 1,
    'jina_failed_requests_total{runtime_name="fail/rep-0"}': 1,
    'jina_received_request_bytes_count{runtime_name="gateway/rep-0"}': 1,
    'jina_received_request_bytes_sum{runtime_name="gateway/rep-0"}': 10,
    'jina_request_size_bytes_count{runtime_name="gateway/rep-0"}': 1,
    'jina_request_size_bytes_sum{runtime_name="gateway/rep-0"}': 10,
    'jina_sent_response_bytes_count{runtime_name="gateway/rep-0"}': 1,
    'jina_sent_response_bytes_sum{runtime_name="gateway/rep-0"}': 200,
    'jina_process_request_seconds_count{executor="Mark",runtime_name="mark/rep-0",executor_endpoint="/default"}': 2,
    'jina_process_request_seconds_count{executor="Fail",runtime_name="fail/rep-0",executor_endpoint="/default"}': 1,
    'jina_document_processed_total{executor="Mark",runtime_name="mark/rep-0",executor_endpoint="/x"}': 2,
    'jina_document_processed_total{executor="Fail",runtime_name="fail/rep-0",executor_endpoint="/x"}': 1,
  });
});

it('has the series of the gateway before the first request', () => {
  const lines = createFlowMetrics().text().split('\n');
  expect(lines).toContain('jina_number_of_pending_requests{runtime_name="gateway/rep-0"} 0.0');
  expect(lines).toContain('jina_failed_requests_total{runtime_name="gateway/rep-0"} 0.0');
});

it('writes help, type and creation time of each metric', async () => {
  const metrics = createFlowMetrics();
  metrics.observe.requestStarted();
  metrics.observe.requestEnded({ ms: 1500, failed: false });
  const lines = metrics.text().split('\n');
  expect(lines).toContain('# TYPE jina_receiving_request_seconds summary');
  expect(lines).toContain('jina_receiving_request_seconds_sum{runtime_name="gateway/rep-0"} 1.5');
  expect(lines).toContain('# TYPE jina_successful_requests_total counter');
  expect(lines).toContain('# TYPE jina_successful_requests_created gauge');
  expect(lines).toContain('# TYPE jina_number_of_pending_requests gauge');
  const created = lines.find((line) => line.startsWith('jina_receiving_request_seconds_created{'));
  expect(Math.abs(Number(created!.split(' ')[1]) - Date.now() / 1000)).toBeLessThan(600);
  expect(lines.at(-1)).toBe('');
});

it('limits series by client-chosen endpoints and escapes labels', () => {
  const { observe, text } = createFlowMetrics();
  const facts = { runtime: 'a/rep-0', executor: 'A', endpoint: '/default', ms: 1, documents: 1, failed: false };
  const answer = createRequest();
  observe.processed({ ...facts, asked: '/a"b\\c\nd 1' }, answer);
  for (let at = 0; at < 1000; at++) observe.processed({ ...facts, asked: `/${at}` }, answer);
  const lines = text()
    .split('\n')
    .filter((line) => line.startsWith('jina_document_processed_total{'));
  expect(lines).toHaveLength(101);
  expect(lines[0]).toContain('executor_endpoint="/a\\"b\\\\c\\nd 1"} 1.0');
  expect(lines.at(-1)).toMatch(/executor_endpoint="other"\} 901\.0$/);
});

it('are served at any path', async () => {
  const metrics = createFlowMetrics();
  metrics.observe.requestStarted();
  const opened = await serveMetrics(metrics, 0, '127.0.0.1');
  try {
    const answer = await fetch(`http://127.0.0.1:${opened.port}/metrics`);
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(await answer.text()).toContain('jina_number_of_pending_requests{runtime_name="gateway/rep-0"} 1.0');
  } finally {
    await opened.close();
  }
});
