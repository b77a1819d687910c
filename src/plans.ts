/**
 * The table of plans: rate limits for each endpoint, concurrency and features. The `plans` setting can override every
 * number.
 */
import * as z from 'zod';

export const PLAN_NAMES = ['free', 'paid', 'premium'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

/** Endpoints with separate rate limits. */
export const ENDPOINTS = ['reader', 'search', 'embeddings', 'rerank', 'chat'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Features that an option may require (the `feature` column of the options table). */
export const FEATURES = ['scripts', 'generatedAlt', 'modelFormats', 'proxy'] as const;
export type Feature = (typeof FEATURES)[number];

export interface EndpointLimits {
  /** Requests per minute; `undefined` means no limit. */
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

export interface Plan {
  readonly name: PlanName;
  /** Maximum number of simultaneous requests with one key. */
  readonly concurrency?: number | undefined;
  readonly features: readonly Feature[];
  /** Maximum number of labels of a trained classifier; `undefined` for no limit. */
  readonly labels?: number | undefined;
  /** Maximum number of trained classifiers of an account; `undefined` for no limit. */
  readonly classifiers?: number | undefined;
  readonly endpoints: Readonly<Record<Endpoint, EndpointLimits>>;
}

export type Plans = Readonly<Record<PlanName, Plan>>;

const limits = (requestsPerMinute: number, tokensPerMinute?: number): EndpointLimits => ({
  requestsPerMinute,
  tokensPerMinute,
});

export const PLANS: Plans = {
  free: {
    name: 'free',
    concurrency: 5,
    features: FEATURES,
    labels: 64,
    classifiers: 16,
    endpoints: {
      reader: limits(500),
      search: limits(100),
      embeddings: limits(500, 1_000_000),
      rerank: limits(500, 1_000_000),
      chat: limits(100, 500_000),
    },
  },
  paid: {
    name: 'paid',
    concurrency: 50,
    features: FEATURES,
    labels: 256,
    classifiers: 64,
    endpoints: {
      reader: limits(500),
      search: limits(100),
      embeddings: limits(500, 10_000_000),
      rerank: limits(500, 10_000_000),
      chat: limits(100, 5_000_000),
    },
  },
  premium: {
    name: 'premium',
    concurrency: 500,
    features: FEATURES,
    labels: 512,
    classifiers: 256,
    endpoints: {
      reader: limits(5_000),
      search: limits(1_000),
      embeddings: limits(5_000, 100_000_000),
      rerank: limits(5_000, 100_000_000),
      chat: limits(1_000, 50_000_000),
    },
  },
};

/** A positive whole number, or `none` for no limit. */
const limit = z.union([z.int().min(1), z.literal('none')], {
  error: 'must be a whole number above zero, or `none`',
});
/** The cost of a page is known only after it has been read, so only model endpoints have a token limit. */
const pageShape = z.strictObject({ requestsPerMinute: limit.optional() });
const modelShape = pageShape.extend({ tokensPerMinute: limit.optional() });
const planShape = z.strictObject({
  concurrency: limit.optional(),
  features: z.array(z.enum(FEATURES)).optional(),
  labels: limit.optional(),
  classifiers: limit.optional(),
  reader: pageShape.optional(),
  search: pageShape.optional(),
  embeddings: modelShape.optional(),
  rerank: modelShape.optional(),
  chat: modelShape.optional(),
});

/** The `plans` setting: a partial table that overrides PLANS. */
export const plansShape = z.strictObject({
  free: planShape.optional(),
  paid: planShape.optional(),
  premium: planShape.optional(),
});
type GivenLimit = z.output<typeof limit> | undefined;
export type GivenPlans = z.output<typeof plansShape>;

/** Returns the plans after the overrides in the settings were applied. */
export function plansWith(given: GivenPlans): Plans {
  return Object.fromEntries(PLAN_NAMES.map((name) => [name, planWith(PLANS[name], given[name] ?? {})])) as Plans;
}

function planWith(plan: Plan, given: NonNullable<GivenPlans[PlanName]>): Plan {
  const { concurrency, features, labels, classifiers, ...endpoints } = given;
  return {
    ...plan,
    concurrency: changed(plan.concurrency, concurrency),
    features: features ?? plan.features,
    labels: changed(plan.labels, labels),
    classifiers: changed(plan.classifiers, classifiers),
    endpoints: Object.fromEntries(
      ENDPOINTS.map((name) => {
        const { requestsPerMinute, tokensPerMinute } = plan.endpoints[name];
        const own: { requestsPerMinute?: GivenLimit; tokensPerMinute?: GivenLimit } | undefined = endpoints[name];
        return [
          name,
          {
            requestsPerMinute: changed(requestsPerMinute, own?.requestsPerMinute),
            tokensPerMinute: changed(tokensPerMinute, own?.tokensPerMinute),
          },
        ];
      }),
    ) as Plan['endpoints'],
  };
}

const changed = (standard: number | undefined, given: GivenLimit) =>
  given === 'none' ? undefined : (given ?? standard);
