/** Returns a function whose result is true for its first call, and then at most once in `intervalMs` milliseconds. */
export function oncePer(intervalMs: number): () => boolean {
  let quietUntil = Number.NEGATIVE_INFINITY;
  return () => {
    const now = performance.now();
    if (now < quietUntil) return false;
    quietUntil = now + intervalMs;
    return true;
  };
}
