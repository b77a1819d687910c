/** How far a crawl or a batch job is. */
import { type Fields, isRecord } from './fields.ts';
import type { Answer } from './send.ts';

export interface Progress {
  readonly done: number;
  readonly total: number;
  /** What is counted. */
  readonly unit: string;
}

/** `undefined` for requests whose progress is not known. */
export function progressOf({ call: { tab }, json, events }: Answer): Progress | undefined {
  if (tab === 'batch' && isRecord(json)) {
    const stats = statsOf(json);
    return { done: numberOf(stats.completed) + numberOf(stats.failed), total: numberOf(stats.total), unit: 'lines' };
  }
  if (tab !== 'crawl') return undefined;
  const stats = statsOf(events.findLast(({ data }) => isRecord(data) && isRecord(data.stats))?.data);
  const outcomes = events.filter(({ event }) => OUTCOMES.includes(event)).length;
  return { done: outcomes, total: Math.max(numberOf(stats.found), outcomes), unit: 'URLs' };
}

const OUTCOMES = ['page', 'failed', 'skipped'];

function statsOf(data: unknown): Fields {
  return isRecord(data) && isRecord(data.stats) ? data.stats : {};
}
const numberOf = (value: unknown): number => (typeof value === 'number' ? value : 0);
