/**
 * Example requests and responses for the OpenAPI document of the model host. The responses were recorded from a server.
 */

export const EMBEDDER = 'lectern-static-v2';
const RERANKER = 'lectern-static-rerank-v2';

export const EMBEDDINGS = {
  request: { model: EMBEDDER, input: ['The river crosses four districts.'], dimensions: 64, embedding_type: 'binary' },
  answer: {
    model: EMBEDDER,
    object: 'list',
    usage: { total_tokens: 6, prompt_tokens: 6 },
    data: [{ object: 'embedding', index: 0, embedding: [-8, 18, -93, 45, 117, -84, 100, -46] }],
  },
};

const DOCUMENTS = ['Bees fly home by the sun.', 'Tap water is safe to drink.'];
const RANKING_REQUEST = { model: RERANKER, query: 'how bees find home', documents: DOCUMENTS };

export const RERANKING = {
  request: { ...RANKING_REQUEST, top_n: 1 },
  answer: {
    model: RERANKER,
    object: 'list',
    usage: { total_tokens: 22 },
    results: [{ index: 0, relevance_score: 0.45493507, document: { text: DOCUMENTS[0] } }],
  },
};

export const COHERE_RERANKING = {
  request: RANKING_REQUEST,
  answer: {
    id: '9dfeb7e4953b496bbcf901442c8b4a06',
    results: [
      { index: 0, relevance_score: 0.45493507 },
      { index: 1, relevance_score: 0 },
    ],
    meta: { api_version: { version: '2' }, billed_units: { search_units: 1 }, tokens: { input_tokens: 22 } },
  },
};

export const TEI_RERANKING = {
  request: { query: RANKING_REQUEST.query, texts: DOCUMENTS },
  answer: [
    { index: 0, score: 0.45493507 },
    { index: 1, score: 0 },
  ],
};

/** A picture of the text "Invoice 42". */
const PICTURE = [
  'iVBORw0KGgoAAAANSUhEUgAAASwAAABGAQMAAABMqzu+AAAABlBMVEX///8AAABVwtN+AAAACXBIWXMAAAsSAAALEgHS3X78AAAB',
  'QUlEQVRIx+3TQW6DMBAF0G95MZsKX4DCNVKJliu16iZSkTK9mXsT5wauumERxR2HhEZkErIvf4XwAzyeAViy5F+Fbi1GhdmAxPOM',
  'AqUwz1xwKd7FuL/G/vIYHtDNs2fZWDPPnu5jb8LKCStaX6LAhgm0Rx2vsU2oUJkUCHXCJle41ViKwmyKhDYh7QDzpezN+b5ASb4n',
  'dMbII1cYrx0axx2hh/VOWvopbD1lWJEwNCRVWy+9II0VwniVv2sCLGcmF9ODEtYQr6WKvEpMjEIuTLhkll/PWZVf6xXmB+ZBSeax',
  'PHiNxXO2EuZwyYwPU1ZrbDuyfKtNe7woDEd23FJmnca+/ZT1Gvvxx+MdCjTBRI2989isgdmgsQ8+tT4MjLzGZHRPg2QPzLHGWoxj',
  'mQYmVWhsHPJbTM789MvsdLZkyRLgF1qXuCpFcJW6AAAAAElFTkSuQmCC',
].join('');

export const CHAT = {
  request: {
    model: 'lectern-ocr',
    messages: [
      {
        role: 'user',
        content: [{ type: 'image_url', image_url: { url: `data:image/png;base64,${PICTURE}` } }],
      },
    ],
  },
  answer: {
    id: 'chatcmpl-9818716422935cd6c1e4c009',
    object: 'chat.completion',
    created: 1_795_446_689,
    model: 'lectern-ocr',
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: 'Invoice 42', refusal: null },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: { prompt_tokens: 85, completion_tokens: 4, total_tokens: 89 },
    system_fingerprint: null,
  },
};

export const MODEL = {
  id: EMBEDDER,
  name: 'Lectern static v1',
  hugging_face_id: '',
  created: 1_795_219_200,
  description: 'Built in: word vectors that need no network and no runtime.',
  input_modalities: ['text'],
  output_modalities: ['embeddings'],
  context_length: 8192,
  max_output_length: 1024,
  quantization: 'int8',
  pricing: { prompt: '0', completion: '0', image: '0', request: '0', input_cache_read: '0', input_cache_write: '0' },
  supported_sampling_parameters: [],
  supported_features: ['matryoshka', 'tasks'],
  datacenters: [],
  object: 'model',
  owned_by: 'lectern',
  serves: EMBEDDER,
  kind: 'text-v3',
  spaces: {},
  dimensions: [1024, 256, 128, 64],
  languages: ['en', 'multi'],
  license: 'Apache-2.0',
  on_disk: true,
  residence: 'loaded',
};
export const MODELS = { object: 'list', data: [MODEL] };
