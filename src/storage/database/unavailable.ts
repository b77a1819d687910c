/** The database is unreachable or unusable for now; `cause` is its error. Later calls try again. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';

  constructor(cause: unknown) {
    super('the database cannot be reached', { cause });
  }
}
