/** Reads several pages of one request at the same time, and keeps their order. */

/** Pages of one request that are read at a time. */
const AT_ONCE = 5;

export async function readAll<Outcome>(
  urls: readonly string[],
  read: (url: string) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = new Array(urls.length);
  let next = 0;
  const work = async () => {
    for (let at = next++; at < urls.length; at = next++) outcomes[at] = await read(urls[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, urls.length) }, work));
  return outcomes;
}
