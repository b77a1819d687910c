/** Time limits that leave no timer behind. */

export class TimeUp extends Error {}

/** The promise's outcome, or TimeUp after `ms`. The work itself goes on: whoever started it must be able to end it. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new TimeUp(`not done within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, limit]);
  } finally {
    clearTimeout(timer);
  }
}
