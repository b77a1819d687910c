/** Follows a batch job until it has ended, and gets its lines (docs/reference/wire/models.md, Batches). */
import { type Fields, isRecord } from './fields.ts';

/** How often the state of the job is asked for. */
const INTERVAL_MS = 500;
const RUNNING = ['pending', 'processing'];

interface Following {
  readonly apiKey: string;
  /** Cancels the job when it is aborted. */
  readonly signal: AbortSignal;
  readonly onProgress: (job: Fields) => void;
}

export interface BatchLine {
  readonly event: 'output' | 'errors';
  readonly data: Fields;
}

/** Rejects if a request fails. `url` is the URL to which the job was submitted. */
export async function followBatch(
  url: string,
  submitted: Fields,
  { apiKey, signal, onProgress }: Following,
): Promise<{ readonly job: Fields; readonly lines: readonly BatchLine[] }> {
  const jobUrl = `${new URL(url).origin}/v1/batch/${submitted.batch_id}`;
  const headers: Record<string, string> = apiKey ? { Authorization: `Bearer ${apiKey}` } : {};
  const options = { headers, referrerPolicy: 'no-referrer' } as const;
  let job = submitted;
  onProgress(job);
  try {
    while (RUNNING.includes(String(job.status))) {
      await delay(INTERVAL_MS, signal);
      job = await (await checked(fetch(jobUrl, { ...options, signal }))).json();
      onProgress(job);
    }
  } catch (error) {
    if (signal.aborted) await fetch(jobUrl, { ...options, method: 'DELETE', keepalive: true }).catch(() => {});
    throw error;
  }
  const lines: BatchLine[] = [];
  const stats = isRecord(job.stats) ? job.stats : {};
  for (const [event, count] of [
    ['output', stats.completed],
    ['errors', stats.failed],
  ] as const) {
    if (!count) continue;
    const text = await (await checked(fetch(`${jobUrl}/${event}`, { ...options, signal }))).text();
    for (const line of text.split('\n')) if (line) lines.push({ event, data: JSON.parse(line) });
  }
  return { job, lines };
}

async function checked(answer: Promise<Response>): Promise<Response> {
  const reply = await answer;
  if (!reply.ok) throw new Error(`The server answered ${reply.status}: ${await reply.text()}`);
  return reply;
}

function delay(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal.addEventListener('abort', stop, { once: true });
  });
}
