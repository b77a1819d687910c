/** Embedding models for texts together with images or sounds. */
import { clipRule, jinaClipRule, type PictureRule, siglipRule } from '../../media/picture-rule.ts';
import { CLAP_RULE } from '../../media/sound.ts';
import type { EmbeddingRow } from '../catalogue.ts';
import { asking, day, encoder, megabytes, type OnnxRuns, quantizedOf, withWeights } from './row.ts';

const TEXT_TOWER = 'onnx/text_model.onnx';

/** A text graph and an image graph. Images are cut into squares of `patch` pixels. */
const imageTowers = (
  rule: PictureRule,
  patch: number,
  rest: Partial<OnnxRuns> & Pick<OnnxRuns, 'bytes'>,
): OnnxRuns => ({
  on: 'onnx',
  file: TEXT_TOWER,
  quantized: quantizedOf(TEXT_TOWER),
  towers: {
    image: {
      file: 'onnx/vision_model.onnx',
      quantized: 'onnx/vision_model_quantized.onnx',
      rule,
      tokens: Math.floor(rule.width / patch) * Math.floor(rule.height / patch),
    },
  },
  ...rest,
});

/** Multimodal models whose graphs output pooled vectors. */
const towered = (row: Parameters<typeof encoder>[0]): EmbeddingRow =>
  encoder({ kind: 'omni-v5', pooling: 'none', normalizes: false, ...row });

const JINA_CLIP_V2_GRAPH = 'onnx/model.onnx';

export const MULTIMODAL_MODELS: readonly EmbeddingRow[] = [
  towered({
    id: 'jina-clip-v1',
    hub: 'jinaai/jina-clip-v1',
    name: 'Jina CLIP v1',
    description: 'English texts of up to 8,192 tokens and images in one space, 768 dimensions',
    created: day(2024, 6, 5),
    contextTokens: 8_192,
    languages: ['en'],
    licence: 'Apache-2.0',
    kind: 'clip-v1',
    dimensions: 768,
    runs: imageTowers(jinaClipRule(224), 16, { bytes: megabytes(890) }),
  }),
  towered({
    id: 'jina-clip-v2',
    hub: 'jinaai/jina-clip-v2',
    name: 'Jina CLIP v2',
    description: 'Texts in about 90 languages and images in one space, 1,024 dimensions, can be shortened',
    created: day(2024, 11, 21),
    contextTokens: 8_192,
    languages: ['multi'],
    licence: 'CC-BY-NC-4.0',
    kind: 'clip-v2',
    dimensions: 1_024,
    matryoshka: [64, 128, 256, 512, 768, 1_024],
    prefixes: asking('Represent the query for retrieving evidence documents: '),
    // One graph contains both encoders.
    runs: {
      on: 'onnx',
      file: JINA_CLIP_V2_GRAPH,
      quantized: quantizedOf(JINA_CLIP_V2_GRAPH),
      bytes: megabytes(3_460),
      data: { [JINA_CLIP_V2_GRAPH]: ['onnx/model.onnx_data'] },
      towers: {
        image: {
          file: JINA_CLIP_V2_GRAPH,
          quantized: quantizedOf(JINA_CLIP_V2_GRAPH),
          rule: jinaClipRule(512),
          tokens: 36 * 36,
        },
      },
    },
  }),
  towered({
    id: 'clip-vit-base-patch32',
    hub: 'openai/clip-vit-base-patch32',
    name: 'CLIP ViT-B/32',
    description: 'Short English texts and images in one space, 512 dimensions, small and fast',
    created: day(2021, 1, 5),
    contextTokens: 77,
    languages: ['en'],
    licence: 'MIT',
    dimensions: 512,
    runs: imageTowers(clipRule(224), 32, { bytes: megabytes(606), repository: 'Xenova/clip-vit-base-patch32' }),
  }),
  towered({
    id: 'clip-vit-large-patch14',
    hub: 'openai/clip-vit-large-patch14',
    name: 'CLIP ViT-L/14',
    description: 'Short English texts and images in one space, 768 dimensions',
    created: day(2022, 1, 24),
    contextTokens: 77,
    languages: ['en'],
    licence: 'MIT',
    dimensions: 768,
    runs: imageTowers(clipRule(224), 14, { bytes: megabytes(1_710), repository: 'Xenova/clip-vit-large-patch14' }),
  }),
  towered({
    id: 'siglip-base-patch16-224',
    hub: 'google/siglip-base-patch16-224',
    name: 'SigLIP base 224',
    description: 'Short English texts and images in one space, 768 dimensions',
    created: day(2024, 1, 8),
    contextTokens: 64,
    languages: ['en'],
    licence: 'Apache-2.0',
    dimensions: 768,
    runs: imageTowers(siglipRule(224), 16, {
      bytes: megabytes(813),
      repository: 'Xenova/siglip-base-patch16-224',
      // The vector is always taken from the last of the 64 positions.
      textTokens: 64,
    }),
  }),
  towered({
    id: 'clap-htsat-unfused',
    hub: 'laion/clap-htsat-unfused',
    name: 'CLAP HTSAT unfused',
    description:
      'English descriptions of sounds, and sounds, in one space, 512 dimensions. It does not understand speech',
    created: day(2023, 2, 16),
    contextTokens: 512,
    languages: ['en'],
    licence: 'Apache-2.0',
    dimensions: 512,
    spaces: { text: 'clap', audio: 'clap' },
    runs: {
      on: 'onnx',
      repository: 'Xenova/clap-htsat-unfused',
      file: TEXT_TOWER,
      quantized: quantizedOf(TEXT_TOWER),
      bytes: megabytes(620),
      towers: {
        audio: {
          file: 'onnx/audio_model.onnx',
          quantized: 'onnx/audio_model_quantized.onnx',
          rule: CLAP_RULE,
          // Number of positions in the last layer for ten seconds of audio.
          tokens: 64,
        },
      },
    },
  }),
  towered({
    id: 'siglip2-base-patch16-224',
    hub: 'google/siglip2-base-patch16-224',
    name: 'SigLIP 2 base 224',
    description: 'Short texts in many languages and images in one space, 768 dimensions',
    created: day(2025, 2, 20),
    contextTokens: 64,
    languages: ['multi'],
    licence: 'Apache-2.0',
    documentedIn: 'model card; downloads by users of the ONNX repository',
    dimensions: 768,
    runs: imageTowers(siglipRule(224), 16, {
      bytes: megabytes(1_500),
      repository: 'onnx-community/siglip2-base-patch16-224-ONNX',
      textTokens: 64,
    }),
  }),
  encoder({
    id: 'colpali-v1.3',
    hub: 'vidore/colpali-v1.3',
    name: 'ColPali 1.3',
    description: 'Pages of documents as images, and English questions about them: a vector of 128 numbers per token',
    created: day(2024, 11, 7),
    contextTokens: 512,
    languages: ['en'],
    licence: 'MIT; its base model has the Gemma Terms of Use',
    documentedIn: 'model card; use of the graph by fastembed',
    kind: 'colbert',
    dimensions: 128,
    prefixes: { query: 'Query: ', passage: '', default: '' },
    runs: {
      on: 'onnx',
      repository: 'Qdrant/colpali-v1.3-fp16',
      file: 'model.onnx',
      bytes: megabytes(6_500),
      data: withWeights('model.onnx'),
      querySuffix: `${'<pad>'.repeat(10)}\n`,
      towers: {
        image: {
          file: 'model.onnx',
          rule: siglipRule(448),
          tokens: 1_030,
          prompt: { patch: '<image>', patches: 1_024, text: '<bos>Describe the image.\n' },
        },
      },
    },
  }),
];
