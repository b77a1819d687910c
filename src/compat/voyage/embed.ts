/** Voyage's `/v1/embeddings` and `/v1/multimodalembeddings`. */
import { problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { readFields, renameFields } from '../fields.ts';
import { encodeVector, type VectorType } from '../native/encode.ts';
import type { Embedded } from '../native/models.ts';
import { listJson, sendJsonText, vectorsOf } from '../native/vectors.ts';
import { EMBED_FIELDS, MULTIMODAL_FIELDS, type VoyageEmbed } from './fields.ts';

export async function embed(call: CompatCall): Promise<unknown> {
  const asked = readFields(EMBED_FIELDS, call.body);
  const { model, input, input_type, truncation, output_dimension: dimensions } = asked;
  const embedded = await call.native
    .embed(call, { model, input, input_type, truncate: truncation, dimensions })
    .catch(renameFields({ dimensions: 'output_dimension', truncate: 'truncation' }));
  return send(call, embedded, typeOf(asked));
}

export async function embedMultimodal(call: CompatCall): Promise<unknown> {
  const asked = readFields(MULTIMODAL_FIELDS, call.body);
  const { model, input_type, truncation: truncate } = asked;
  const input = asked.inputs.map(({ content }) => {
    const parts = content.map(partOf);
    return parts.length === 1 ? parts[0] : { content: parts };
  });
  const embedded = await call.native
    .embed(call, { model, input, input_type, truncate })
    .catch(renameFields({ input: 'inputs', truncate: 'truncation' }));
  const isBase64 = asked.output_encoding === 'base64' || asked.encoding_format === 'base64';
  return send(call, embedded, isBase64 ? 'base64' : 'float');
}

/** A part in our format. */
function partOf(part: unknown): unknown {
  const { type, image_base64: image } = (part ?? {}) as Readonly<Record<string, unknown>>;
  return type === 'image_base64' && image !== undefined ? { image } : part;
}

function typeOf({ output_dtype: type, encoding_format: format }: VoyageEmbed): VectorType {
  if (format !== 'base64') return type;
  if (type === 'float') return 'base64';
  const message = `encoding_format must not be base64 with output_dtype ${type}`;
  throw problem('ParamValidationError', { path: 'encoding_format', message });
}

function send(call: CompatCall, embedded: Embedded, type: VectorType): unknown {
  const { name, request, embeddings } = embedded;
  if (request.output !== 'pooled') {
    throw problem('ParamValidationError', {
      path: 'model',
      message: `model ${name} has no single vector for an input`,
    });
  }
  const data = vectorsOf(embedded).map(
    (vector, index) => `{"object":"embedding","embedding":${encodeVector(vector, type)},"index":${index}}`,
  );
  const { tokens, imageTokens } = embeddings;
  const usage = JSON.stringify({
    total_tokens: tokens,
    ...(imageTokens !== undefined && { image_tokens: imageTokens }),
  });
  return sendJsonText(
    call.reply,
    `{"object":"list","data":${listJson(data)},"model":${JSON.stringify(name)},"usage":${usage}}`,
  );
}
