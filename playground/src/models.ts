/** The models that the server has, as its model host lists them. */
import { isRecord } from './send.ts';
import type { TabName } from './tabs.ts';

export interface Model {
  readonly id: string;
  readonly description: string;
  readonly makes: readonly string[];
  /** Whether it can be used without being fetched first. */
  readonly isHere: boolean;
}

/** Those in memory or on disk first. Throws when the host cannot be asked. */
export async function listModels(base: string): Promise<readonly Model[]> {
  const answer = await fetch(`${base}/v1/models`, { referrerPolicy: 'no-referrer' });
  const body: unknown = await answer.json();
  const entries = isRecord(body) && Array.isArray(body.data) ? body.data.filter(isRecord) : [];
  const models = entries.map((entry) => ({
    id: String(entry.id),
    description: String(entry.description ?? ''),
    makes: Array.isArray(entry.output_modalities) ? entry.output_modalities.map(String) : [],
    isHere: entry.on_disk !== false || entry.residence === 'loaded',
  }));
  return models.sort((a, b) => Number(b.isHere) - Number(a.isHere));
}

const MAKES: Partial<Record<TabName, string>> = { embed: 'embeddings', rerank: 'rerank', ocr: 'text' };

export const modelsFor = (tab: TabName, models: readonly Model[]): readonly Model[] =>
  models.filter(({ makes }) => makes.includes(MAKES[tab] ?? ''));
