/** `meta` of Cohere's responses: what is billed, and warnings. */
export interface Meta {
  readonly version: 1 | 2;
  readonly billed: Readonly<Record<string, number>>;
  /** Fields of the request that have no effect. */
  readonly ignored: readonly string[];
}

export const metaOf = ({ version, billed, ignored }: Meta) => ({
  api_version: { version: String(version) },
  billed_units: billed,
  ...(ignored.length > 0 && { warnings: ignored.map((name) => `${name} has no effect on this server`) }),
});
