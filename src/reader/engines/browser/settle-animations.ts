/** In-page function that brings animations to their end. It runs in our world of the page. */

interface PageAnimation {
  readonly playState: string;
  readonly playbackRate: number;
  readonly currentTime: number | null;
  readonly timeline: unknown;
  readonly effect: { getComputedTiming(): { readonly endTime: number } } | null;
  finish(): void;
}

declare const document: { readonly timeline: unknown; getAnimations?(): readonly PageAnimation[] };
declare function requestAnimationFrame(run: () => void): void;

/**
 * Finishes the animations that would end within `ms` milliseconds, and those that scripts start at their end. Ends when
 * the page was drawn after the last of them. Animations advance in real time even if the page's clock runs faster.
 */
export async function settleAnimations(ms: number): Promise<void> {
  const maxRounds = 5;
  const endsInTime = ({ effect, playState, playbackRate, currentTime, timeline }: PageAnimation) =>
    effect !== null &&
    playState === 'running' &&
    playbackRate > 0 &&
    timeline === document.timeline &&
    (effect.getComputedTiming().endTime - (currentTime ?? 0)) / playbackRate <= ms;
  const drawn = () => new Promise<void>((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));

  for (let round = 0; round < maxRounds; round++) {
    await drawn();
    const ending = (document.getAnimations?.() ?? []).filter(endsInTime);
    if (ending.length === 0) return;
    for (const animation of ending) animation.finish();
  }
}
