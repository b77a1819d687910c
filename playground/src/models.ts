/** Lists the models of the server. */
import { isRecord } from './fields.ts';
import type { TabName } from './tabs.ts';

export interface Model {
  readonly id: string;
  readonly description: string;
  readonly outputs: readonly string[];
  /** Whether the model can be used without a download. */
  readonly isDownloaded: boolean;
}

/**
 * Lists models that a request may name, those that are usable at once first. Throws if the model host is unreachable.
 */
export async function listModels(base: string): Promise<readonly Model[]> {
  const answer = await fetch(`${base}/v1/models?all=true`, { referrerPolicy: 'no-referrer' });
  const body: unknown = await answer.json();
  const entries = isRecord(body) && Array.isArray(body.data) ? body.data.filter(isRecord) : [];
  const usable = entries.filter(({ available, how }) => available !== false || how === 'downloaded on first use');
  return usable.map((entry) => ({
    id: String(entry.id),
    description: String(entry.description ?? ''),
    outputs: Array.isArray(entry.output_modalities) ? entry.output_modalities.map(String) : [],
    isDownloaded: entry.available !== false,
  }));
}

const OUTPUTS: Partial<Record<TabName, string>> = {
  embed: 'embeddings',
  rerank: 'rerank',
  ocr: 'text',
  batch: 'embeddings',
};

export const modelsFor = (tab: TabName, models: readonly Model[]): readonly Model[] =>
  models.filter(({ outputs }) => outputs.includes(OUTPUTS[tab] ?? ''));
