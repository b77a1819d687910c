/** What tests use of the script beside it. */
export const ENTRIES: readonly string[];
export function bundle(out: string): Promise<void>;
export function bundleClient(out: string): Promise<void>;
