/** The database cannot be reached or used for the moment; `cause` is what it said. Calls made later try it again. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseAway';

  constructor(cause: unknown) {
    super('the database cannot be reached', { cause });
  }
}
