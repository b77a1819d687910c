/** The model and the texts of a request. TEI serves one model, so requests name none: the URL may name it. */
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';

const nameIn = ({ params: { organization, model } }: CompatCall): string | undefined =>
  organization === undefined ? model : `${organization}/${model}`;

/** The model in the URL, or else the default one. */
export function modelOf(call: CompatCall, does: 'embedder' | 'reranker'): string {
  const name = nameIn(call) ?? call.native.parts.modelHost.registry.defaults[does];
  if (name !== undefined) return name;
  throw problem('ModelNotFoundError', { message: `This server has no default ${does}: use /for/tei/MODEL` });
}

/** Whether the model of the URL is a reranker. */
export async function isReranker(call: CompatCall): Promise<boolean> {
  const name = nameIn(call);
  const found = name === undefined ? undefined : await call.native.parts.modelHost.registry.find(name);
  return found?.row.does === 'rerank';
}

type Ids = readonly number[];

const isIds = (value: unknown): value is Ids =>
  Array.isArray(value) && value.length > 0 && value.every((id) => Number.isInteger(id) && id >= 0);

/** The inputs as a list of texts. Token ids are those of the model, and are converted to text. */
export async function textsOf(call: CompatCall, model: string, inputs: unknown): Promise<readonly unknown[]> {
  const list = isIds(inputs) ? [inputs] : Array.isArray(inputs) ? (inputs as unknown[]) : [inputs];
  if (list.length === 0) {
    throw problem('ParamValidationError', {
      path: 'inputs',
      message: 'inputs must have at least one item',
      isEmpty: true,
    });
  }
  const lists = list.filter(isIds);
  if (lists.length === 0) return list;
  const texts = await call.native.detokenize(call, { model, lists, skipSpecial: true, field: 'inputs' });
  let next = 0;
  return list.map((item) => (isIds(item) ? texts[next++] : item));
}

interface Truncation {
  readonly truncate?: boolean | undefined;
  readonly truncation_direction: 'left' | 'right';
}

/** Inputs are cut at their end only. */
export function refuseLeft({ truncate, truncation_direction: direction }: Truncation): void {
  if (!truncate || direction === 'right') return;
  const message = 'truncation_direction must be Right: this server cuts inputs at their end';
  throw problem('ParamValidationError', { path: 'truncation_direction', message });
}

const SIDES: ReadonlyMap<string, string> = new Map([
  ['query', 'query'],
  ['search_query', 'query'],
  ['document', 'document'],
  ['passage', 'document'],
  ['search_document', 'document'],
]);

/** The side of a search, as a field of our requests. */
export function sideOf(prompt: string | undefined): { input_type?: string } {
  if (prompt === undefined) return {};
  const side = SIDES.get(prompt);
  if (side !== undefined) return { input_type: side };
  const message = `prompt_name must be one of ${[...SIDES.keys()].join(', ')}`;
  throw problem('ParamValidationError', { path: 'prompt_name', message });
}
