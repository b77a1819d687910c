/** Runs work concurrently and returns the results in the order of the input. */

/**
 * Processes up to `concurrency` items at a time and yields the results in order. The number of finished results that
 * wait for earlier ones is at most a small multiple of `concurrency`, so memory use is bounded for any source. Results
 * are yielded even while the next item is still pending. `work` must not throw.
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
      const arrived = await Promise.race(next ? [...running, next] : running);
      if (!arrived) continue;
      next = undefined;
      if (arrived.done) isOver = true;
      else start(arrived.value);
    }
  } finally {
    // Not awaited: the source may still be waiting for its next item.
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
