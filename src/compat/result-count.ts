/** Number of results of one search. Other APIs allow more than the search host, which has pages of at most 20. */
export const MAX_RESULTS = 20;

export const resultCount = (asked: number): number => Math.min(asked, MAX_RESULTS);
