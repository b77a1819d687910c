/** Cohere's `/v1/embed` and `/v2/embed`. */
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { readFields, renameFields } from '../fields.ts';
import { sentFields } from '../ignored.ts';
import { encodeVector } from '../native/encode.ts';
import type { Embedded } from '../native/models.ts';
import type { GivenFields } from '../native/native.ts';
import { taskFor } from '../native/purpose.ts';
import { listJson, sendJsonText, vectorJson, vectorsOf } from '../native/vectors.ts';
import { type CohereEmbed, EMBED_FIELDS } from './fields.ts';
import { metaOf } from './meta.ts';

const SOURCES = ['texts', 'images', 'inputs'] as const;
type Source = (typeof SOURCES)[number];

const NAMES = { dimensions: 'output_dimension', embedding_type: 'embedding_types' };
const IGNORED = ['max_tokens', 'priority'];

export async function embed(call: CompatCall, version: 1 | 2): Promise<unknown> {
  const asked = readFields(EMBED_FIELDS, call.body);
  const source = sourceOf(asked);
  if (asked.truncate === 'START') {
    const message = 'truncate must be END or NONE: this server cuts inputs at their end';
    throw problem('ParamValidationError', { path: 'truncate', message });
  }
  const embedded = await call.native
    .embed(call, {
      model: asked.model,
      input: inputsOf(asked, source),
      dimensions: asked.output_dimension,
      truncate: asked.truncate === 'END',
      ...(await purposeOf(call, asked)),
    })
    .catch(renameFields({ ...NAMES, input: source }));
  if (embedded.request.output !== 'pooled') {
    const message = `model ${asked.model} has no single vector for an input`;
    throw problem('ParamValidationError', { path: 'model', message });
  }
  return sendJsonText(call.reply, answerJson(call, asked, embedded, version));
}

function sourceOf(asked: CohereEmbed): Source {
  const [source, other] = SOURCES.filter((name) => asked[name] !== undefined);
  if (source === undefined) throw problem('ParamValidationError', { path: 'texts', message: 'texts is required' });
  if (other === undefined) return source;
  throw problem('ParamValidationError', { path: other, message: `${other} cannot be combined with ${source}` });
}

function inputsOf(asked: CohereEmbed, source: Source): readonly unknown[] {
  if (source === 'texts') return asked.texts!;
  if (source === 'images') return asked.images!.map((image) => ({ image }));
  // Models that embed one part only accept it without a list of parts.
  return asked.inputs!.map(({ content }) => (content.length === 1 ? content[0] : { content }));
}

async function purposeOf(call: CompatCall, { input_type: type, model }: CohereEmbed): Promise<GivenFields> {
  if (type === 'classification' || type === 'clustering') return taskFor(model, type, call.native.parts);
  return type === undefined || type === 'image' ? {} : { input_type: type };
}

function answerJson(call: CompatCall, asked: CohereEmbed, embedded: Embedded, version: 1 | 2): string {
  const vectors = vectorsOf(embedded);
  const types = asked.embedding_types ?? (version === 2 ? (['float'] as const) : undefined);
  const byType = [...new Set(types)].map(
    (type) => `"${type}":${listJson(vectors.map((vector) => encodeVector(vector, type)))}`,
  );
  const embeddings = types ? `{${byType.join(',')}}` : listJson(vectors.map(vectorJson));
  const ignored = sentFields(call.body as Record<string, unknown>, IGNORED);
  const meta = metaOf({ version, billed: { input_tokens: embedded.embeddings.tokens }, ignored });
  const rest = {
    texts: asked.texts ?? [],
    meta,
    response_type: types ? 'embeddings_by_type' : 'embeddings_floats',
  };
  return `{"id":${JSON.stringify(call.request.id)},"embeddings":${embeddings},${JSON.stringify(rest).slice(1)}`;
}
