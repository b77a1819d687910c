/** Tells failures of one URL from those of the whole request, for requests that read several URLs. */
import type { Problem } from '#errors.ts';

/** Statuses of missing keys and of limits, which every further URL would run into. */
const OF_REQUEST: readonly number[] = [401, 402, 429, 503];

export const concernsRequest = ({ code }: Problem): boolean => OF_REQUEST.includes(code);
