/** Work on many things at once, whose results come in the order of the things. */

/**
 * So many are worked on at a time, and results wait for those before them only within a window of a few times that: memory
 * is bounded however long the source is. The source is read when there is room. `work` must not throw.
 */
export async function* inOrder<Thing, Result>(
  source: AsyncIterable<Thing> | Iterable<Thing>,
  work: (thing: Thing, at: number) => Promise<Result>,
  concurrency: number,
): AsyncGenerator<Result> {
  const window = concurrency * WINDOW;
  const waiting: Promise<Result>[] = [];
  const free = createSlots(concurrency);
  let at = 0;
  for await (const thing of source) {
    const place = at++;
    await free.take();
    waiting.push(work(thing, place).finally(free.give));
    if (waiting.length >= window) yield await waiting.shift()!;
    while (waiting.length > 0 && (await isDone(waiting[0]!))) yield await waiting.shift()!;
  }
  while (waiting.length > 0) yield await waiting.shift()!;
}

const WINDOW = 4;

const isDone = async (promise: Promise<unknown>): Promise<boolean> => {
  const not = {};
  return (await Promise.race([promise, Promise.resolve(not)])) !== not;
};

function createSlots(many: number) {
  let free = many;
  const queue: (() => void)[] = [];
  return {
    async take(): Promise<void> {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => queue.push(resolve));
    },
    give(): void {
      const next = queue.shift();
      if (next) next();
      else free++;
    },
  };
}
