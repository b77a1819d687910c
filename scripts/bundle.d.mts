/** Types of the functions that tests use. */
export const ENTRIES: readonly string[];
export function bundle(out: string): Promise<void>;
export function bundleClient(out: string): Promise<void>;
export function bundledPackages(): Promise<string[]>;
export function collectLicenses(inputs: readonly string[]): Promise<string>;
