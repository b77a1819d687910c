/** A JSON object that a server answered. */
// biome-ignore lint/suspicious/noExplicitAny: tests read any field of a response
export type AnyJson = Record<string, any>;
