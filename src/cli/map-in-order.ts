/** Work on many things at once, whose results come in the order of the things. */

/**
 * So many are worked on at a time, and results wait for those before them only within a window of a few times that: memory
 * is bounded however long the source is. The source is read when there is room, and a result is given while the source is
 * waited for. `work` must not throw.
 */
export async function* mapInOrder<Thing, Result>(
  source: AsyncIterable<Thing> | Iterable<Thing>,
  work: (thing: Thing, at: number) => Promise<Result>,
  concurrency: number,
): AsyncGenerator<Result> {
  const things = toAsync(source);
  const places: Slot<Result>[] = [];
  const running = new Set<Promise<undefined>>();
  let next: Promise<IteratorResult<Thing, undefined>> | undefined;
  let isOver = false;
  let at = 0;

  function start(thing: Thing): void {
    const place: Slot<Result> = {};
    places.push(place);
    const worked: Promise<undefined> = work(thing, at++).then((value) => {
      place.done = { value };
      running.delete(worked);
      return undefined;
    });
    running.add(worked);
  }

  try {
    for (;;) {
      while (places[0]?.done) yield places.shift()!.done!.value;
      if (!isOver && running.size < concurrency && places.length < concurrency * WINDOW) next ??= things.next();
      if (!next && running.size === 0) return;
      const came = await Promise.race(next ? [...running, next] : running);
      if (!came) continue;
      next = undefined;
      if (came.done) isOver = true;
      else start(came.value);
    }
  } finally {
    // It may be waiting for more, which is not waited for here.
    if (!isOver) things.return(undefined).catch(() => {});
  }
}

interface Slot<Result> {
  done?: { readonly value: Result };
}

const WINDOW = 4;

async function* toAsync<Thing>(source: AsyncIterable<Thing> | Iterable<Thing>): AsyncGenerator<Thing, undefined> {
  yield* source;
}
