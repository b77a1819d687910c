/** THE table of plans: what each may ask of which endpoint, and which features it has. Configuration may change every number. */
import * as z from 'zod';

export const PLAN_NAMES = ['free', 'paid', 'premium'] as const;
export type PlanName = (typeof PLAN_NAMES)[number];

/** What is counted apart. */
export const ENDPOINTS = ['reader', 'search', 'embeddings', 'rerank', 'chat'] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Features that an option may ask for (the column `feature` of the options table). */
export const FEATURES = ['scripts', 'generatedAlt', 'modelFormats', 'proxy'] as const;
export type Feature = (typeof FEATURES)[number];

export interface EndpointLimits {
  /** Requests a minute; undefined when there is no limit. */
  readonly requestsPerMinute?: number | undefined;
  readonly tokensPerMinute?: number | undefined;
}

export interface Plan {
  readonly name: PlanName;
  /** Requests of one key that may be worked on at once. */
  readonly concurrency?: number | undefined;
  readonly features: readonly Feature[];
  readonly endpoints: Readonly<Record<Endpoint, EndpointLimits>>;
}

export type Plans = Readonly<Record<PlanName, Plan>>;

const of = (requestsPerMinute: number, tokensPerMinute?: number): EndpointLimits => ({
  requestsPerMinute,
  tokensPerMinute,
});

export const PLANS: Plans = {
  free: {
    name: 'free',
    concurrency: 5,
    features: FEATURES,
    endpoints: {
      reader: of(500),
      search: of(100),
      embeddings: of(500, 1_000_000),
      rerank: of(500, 1_000_000),
      chat: of(100, 500_000),
    },
  },
  paid: {
    name: 'paid',
    concurrency: 50,
    features: FEATURES,
    endpoints: {
      reader: of(500),
      search: of(100),
      embeddings: of(500, 10_000_000),
      rerank: of(500, 10_000_000),
      chat: of(100, 5_000_000),
    },
  },
  premium: {
    name: 'premium',
    concurrency: 500,
    features: FEATURES,
    endpoints: {
      reader: of(5_000),
      search: of(1_000),
      embeddings: of(5_000, 100_000_000),
      rerank: of(5_000, 100_000_000),
      chat: of(1_000, 50_000_000),
    },
  },
};

/** A positive whole number, or `none` for no limit. */
const limit = z.union([z.int().min(1), z.literal('none')], {
  error: 'must be a whole number above zero, or `none`',
});
/** What a page costs is known when it was read, too late to hold it against a limit: only models have one for tokens. */
const pageShape = z.strictObject({ requestsPerMinute: limit.optional() });
const modelShape = pageShape.extend({ tokensPerMinute: limit.optional() });
const planShape = z.strictObject({
  concurrency: limit.optional(),
  features: z.array(z.enum(FEATURES)).optional(),
  reader: pageShape.optional(),
  search: pageShape.optional(),
  embeddings: modelShape.optional(),
  rerank: modelShape.optional(),
  chat: modelShape.optional(),
});

/** What configuration may say of plans: a partial table that is laid over PLANS. */
export const plansShape = z.strictObject({
  free: planShape.optional(),
  paid: planShape.optional(),
  premium: planShape.optional(),
});
type GivenLimit = z.output<typeof limit> | undefined;
export type GivenPlans = z.output<typeof plansShape>;

/** The plans in force. */
export function plansWith(given: GivenPlans): Plans {
  return Object.fromEntries(PLAN_NAMES.map((name) => [name, planWith(PLANS[name], given[name] ?? {})])) as Plans;
}

function planWith(plan: Plan, given: NonNullable<GivenPlans[PlanName]>): Plan {
  const { concurrency, features, ...endpoints } = given;
  return {
    ...plan,
    concurrency: changed(plan.concurrency, concurrency),
    features: features ?? plan.features,
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
