/** The database is temporarily unreachable or unusable; `cause` is the underlying error. Later calls try again. */
export class DatabaseUnavailableError extends Error {
  override readonly name = 'DatabaseUnavailableError';

  constructor(cause: unknown) {
    super('the database cannot be reached', { cause });
  }
}
