/** The states of a job, and the legal moves between them. */

export const STATES = ['pending', 'processing', 'completed', 'failed', 'cancelled', 'expired'] as const;
export type JobState = (typeof STATES)[number];

interface Move {
  readonly from: readonly JobState[];
  readonly to: JobState;
}

/** THE table: nothing else changes a state. */
export const MOVES = {
  /** A worker takes it. */
  take: { from: ['pending', 'processing'], to: 'processing' },
  /** All of it is done. */
  complete: { from: ['processing'], to: 'completed' },
  /** What is wrong is wrong with the whole of it. */
  fail: { from: ['pending', 'processing'], to: 'failed' },
  cancel: { from: ['pending', 'processing'], to: 'cancelled' },
  /** Its time is over before it was done. */
  lapse: { from: ['pending', 'processing'], to: 'expired' },
  /** What it gave is removed. */
  expire: { from: ['completed', 'failed', 'cancelled'], to: 'expired' },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof MOVES;

export const UNFINISHED: readonly JobState[] = ['pending', 'processing'];

export const isFinal = (state: JobState): boolean => !UNFINISHED.includes(state);

/** The state after a move; undefined when it is not legal. */
export function nextState(state: JobState, move: MoveName): JobState | undefined {
  const { from, to }: Move = MOVES[move];
  return from.includes(state) ? to : undefined;
}
