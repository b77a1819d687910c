export const QUIET: readonly string[];
