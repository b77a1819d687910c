/** Returns the record without undefined and empty values. */
export function omitEmpty<T extends Record<string, unknown>>(record: T): Partial<T> {
  return Object.fromEntries(
    Object.entries(record).filter(
      ([, value]) =>
        value !== undefined &&
        !(typeof value === 'object' && value !== null && Object.keys(value as object).length === 0),
    ),
  ) as Partial<T>;
}
