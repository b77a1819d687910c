/** Selects vectors that differ from each other. Both algorithms are greedy and deterministic. */

export interface Selection {
  /** Indexes of the retained vectors, in input order or in order of selection. */
  readonly kept: readonly number[];
  /** The other vectors, each with the retained vector that is most similar to it. */
  readonly dropped: readonly { readonly index: number; readonly like: number; readonly similarity: number }[];
}

/** Number of multiplications before yielding to the event loop. They take about ten milliseconds. */
const YIELD_AFTER_OPERATIONS = 10_000_000;

/** Retains a vector unless its similarity to an earlier retained vector is at least `threshold`. */
export async function removeDuplicates(
  vectors: readonly Float32Array[],
  threshold: number,
  signal: AbortSignal,
): Promise<Selection> {
  const units = vectors.map(normalize);
  const yieldAfter = createYielder(signal);
  const kept: number[] = [];
  const dropped: Selection['dropped'][number][] = [];
  for (const [index, vector] of units.entries()) {
    await yieldAfter(kept.length * vector.length);
    const nearest = nearestOf(vector, kept, units);
    if (nearest && nearest.similarity >= threshold) dropped.push({ index, ...nearest });
    else kept.push(index);
  }
  return { kept, dropped };
}

/**
 * Selects `count` vectors by farthest-point traversal (Gonzalez 1985): starts with the first one, and repeatedly adds
 * the vector that is least similar to all selected ones.
 */
export async function selectMostDifferent(
  vectors: readonly Float32Array[],
  count: number,
  signal: AbortSignal,
): Promise<Selection> {
  const units = vectors.map(normalize);
  const yieldAfter = createYielder(signal);
  const nearest = units.map(() => ({ like: -1, similarity: Number.NEGATIVE_INFINITY }));
  const kept: number[] = [];
  const left = new Set(units.keys());
  for (let next = 0; kept.length < Math.min(count, units.length); ) {
    kept.push(next);
    left.delete(next);
    await yieldAfter(left.size * units[next]!.length);
    let farthest = -1;
    for (const index of left) {
      const similarity = dot(units[index]!, units[next]!);
      if (similarity > nearest[index]!.similarity) nearest[index] = { like: next, similarity };
      if (farthest < 0 || nearest[index]!.similarity < nearest[farthest]!.similarity) farthest = index;
    }
    next = farthest;
  }
  return { kept, dropped: [...left].map((index) => ({ index, ...roundSimilarity(nearest[index]!) })) };
}

function nearestOf(vector: Float32Array, kept: readonly number[], units: readonly Float32Array[]) {
  let like = -1;
  let similarity = Number.NEGATIVE_INFINITY;
  for (const index of kept) {
    const found = dot(vector, units[index]!);
    if (found > similarity) [like, similarity] = [index, found];
  }
  return like < 0 ? undefined : roundSimilarity({ like, similarity });
}

const roundSimilarity = ({ like, similarity }: { like: number; similarity: number }) => ({
  like,
  similarity: Math.round(similarity * 1e4) / 1e4,
});

function normalize(vector: Float32Array): Float32Array {
  const length = Math.sqrt(dot(vector, vector));
  return length > 0 ? vector.map((value) => value / length) : vector;
}

function dot(a: Float32Array, b: Float32Array): number {
  let sum = 0;
  for (let at = 0; at < a.length; at++) sum += a[at]! * b[at]!;
  return sum;
}

/** Returns a function that yields to the event loop after enough work, and rejects once the signal is aborted. */
function createYielder(signal: AbortSignal): (work: number) => Promise<void> {
  let done = 0;
  return async (work) => {
    done += work;
    if (done < YIELD_AFTER_OPERATIONS) return;
    done = 0;
    await new Promise<void>((resolve) => setImmediate(resolve));
    signal.throwIfAborted();
  };
}
