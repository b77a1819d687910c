/** Example requests and responses for classification. The responses were recorded from a server. */
import { EMBEDDER } from '../models/examples.ts';

export const CLASSIFIER_ID = '0cb5643a-a776-4ed6-ab28-9a238d9f4348';

export const CLASSIFICATION = {
  request: { model: EMBEDDER, input: ['Simmer the sauce with garlic.'], labels: ['sport', 'cooking'] },
  answer: {
    data: [
      {
        object: 'classification',
        index: 0,
        prediction: 'cooking',
        score: 0.5398519350733443,
        predictions: [
          { label: 'sport', score: 0.4601480649266558 },
          { label: 'cooking', score: 0.5398519350733443 },
        ],
      },
    ],
    usage: { total_tokens: 9 },
  },
};

export const TRAINING = {
  request: {
    model: EMBEDDER,
    input: [
      { text: 'The striker scored twice.', label: 'sport' },
      { text: 'Bake the bread in a hot oven.', label: 'cooking' },
    ],
  },
  answer: { classifier_id: CLASSIFIER_ID, num_samples: 2, usage: { total_tokens: 15 } },
};

export const CLASSIFIER = {
  classifier_id: CLASSIFIER_ID,
  user_id: 'default',
  model: EMBEDDER,
  labels: ['sport', 'cooking'],
  access: 'private',
  updated_number: 0,
  used_number: 0,
  created_at: '2026-11-23T15:11:41.881Z',
  updated_at: '2026-11-23T15:11:41.881Z',
  used_at: null,
  is_active: true,
  is_latest: true,
  metadata_: { num_samples: 2 },
};
