/** Ollama's embeddings: `/api/embed`, and the older `/api/embeddings` for one text. */
import * as z from 'zod';
import { Problem } from '#errors.ts';
import type { CompatCall } from '../dialect.ts';
import { readFields, renamePath } from '../fields.ts';
import { sentFields, showIgnored } from '../ignored.ts';
import type { Embedded } from '../native/models.ts';
import { listJson, sendJsonText, vectorJson, vectorsOf } from '../native/vectors.ts';
import { notFound, untagged } from './model.ts';

const model = () => z.string().meta({ description: '`model` of the model host, with or without `:latest`.' });
const truncate = () => z.boolean().default(true).meta({ description: '`truncate`.' });

export const EMBED_FIELDS = z.object({
  model: model(),
  input: z
    .any()
    .refine((value) => value !== undefined, 'is required')
    .meta({ description: 'A text or a list of texts.' }),
  truncate: truncate(),
  dimensions: z.number().optional(),
});

export const PROMPT_FIELDS = z.object({ model: model(), prompt: z.string().default(''), truncate: truncate() });

/** How a model runs is the operator's decision. */
const IGNORED = ['options', 'keep_alive'];

export async function embed(call: CompatCall): Promise<unknown> {
  const startedAt = process.hrtime.bigint();
  const { model: name, input, truncate: cuts, dimensions } = readFields(EMBED_FIELDS, call.body);
  if (Array.isArray(input) && input.length === 0) return send(call, { name, startedAt, vectors: [], tokens: 0 });
  const embedded = await embedNamed(call, name, { input, truncate: cuts, dimensions });
  const vectors = vectorsOf(embedded);
  return send(call, { name, startedAt, vectors, tokens: embedded.embeddings.tokens });
}

interface Answer {
  readonly name: string;
  readonly startedAt: bigint;
  readonly vectors: readonly Float32Array[];
  readonly tokens: number;
}

function send(call: CompatCall, { name, startedAt, vectors, tokens }: Answer): unknown {
  showIgnored(call.reply, sentFields(call.body as Record<string, unknown>, IGNORED));
  const nanoseconds = Number(process.hrtime.bigint() - startedAt);
  const embeddings = listJson(vectors.map(vectorJson));
  const start = `{"model":${JSON.stringify(name)},"embeddings":${embeddings}`;
  return sendJsonText(
    call.reply,
    `${start},"total_duration":${nanoseconds},"load_duration":0,"prompt_eval_count":${tokens}}`,
  );
}

export async function embedPrompt(call: CompatCall): Promise<unknown> {
  const { model: name, prompt, truncate: cuts } = readFields(PROMPT_FIELDS, call.body);
  const { reply } = call;
  showIgnored(reply, sentFields(call.body as Record<string, unknown>, IGNORED));
  // Clients send an empty prompt to load the model.
  if (prompt === '') {
    await call.native.parts.modelHost.registry.embedding(untagged(name)).catch(renameModel(name));
    return sendJsonText(reply, '{"embedding":[]}');
  }
  const embedded = await embedNamed(call, name, { input: prompt, truncate: cuts }, { input: 'prompt' });
  return sendJsonText(reply, `{"embedding":${vectorJson(vectorsOf(embedded)[0]!)}}`);
}

async function embedNamed(
  call: CompatCall,
  name: string,
  body: Readonly<Record<string, unknown>>,
  names: Readonly<Record<string, string>> = {},
): Promise<Embedded> {
  return call.native.embed(call, { model: untagged(name), ...body }).catch((error: unknown) => {
    if (error instanceof Problem) return renameModel(name)(renamePath(error, names));
    throw error;
  });
}

/** Clients look for these words to find out that a model is missing. */
const renameModel =
  (name: string) =>
  (error: unknown): never => {
    throw error instanceof Problem && error.name === 'ModelNotFoundError' ? notFound(name, error) : error;
  };
