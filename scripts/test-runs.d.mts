export interface TestResult {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
}
export type Results = ReadonlyMap<string, readonly TestResult[]>;
export function mergeRuns(first: Results, second: Results): { results: Results; lines: string[] };
