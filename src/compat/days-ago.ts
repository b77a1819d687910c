/** Dates for time ranges that are counted back from now. */
const DAY_MS = 86_400_000;

/** The day that many days before `now`, as `2026-01-31`. */
export const daysAgo = (days: number, now: number): string => new Date(now - days * DAY_MS).toISOString().slice(0, 10);
