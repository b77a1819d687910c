/** Reads several pages, or runs several searches, of one request at the same time, and keeps their order. */

/** Pages of one request that are read at a time. */
const AT_ONCE = 5;

export async function readAll<Item, Outcome>(
  items: readonly Item[],
  read: (item: Item) => Promise<Outcome>,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = new Array(items.length);
  let next = 0;
  const work = async () => {
    for (let at = next++; at < items.length; at = next++) outcomes[at] = await read(items[at]!);
  };
  await Promise.all(Array.from({ length: Math.min(AT_ONCE, items.length) }, work));
  return outcomes;
}
