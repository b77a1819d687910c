/** Types of the functions that tests use. */
export function contents(): { readonly version: string; readonly files: Readonly<Record<string, string>> };
export function contentsProblem(): string | undefined;
