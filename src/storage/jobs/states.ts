/** The states of a job and the transitions between them. */

export const STATES = ['pending', 'processing', 'completed', 'failed', 'cancelled', 'expired'] as const;
export type JobState = (typeof STATES)[number];

interface Move {
  readonly from: readonly JobState[];
  readonly to: JobState;
}

/** All valid transitions. Every change of state follows this table. */
export const TRANSITIONS = {
  /** A worker leases the job. */
  take: { from: ['pending', 'processing'], to: 'processing' },
  /** All work has been done. */
  complete: { from: ['processing'], to: 'completed' },
  /** An error that affects the whole job. */
  fail: { from: ['pending', 'processing'], to: 'failed' },
  cancel: { from: ['pending', 'processing'], to: 'cancelled' },
  /** The job expires before it is complete. */
  lapse: { from: ['pending', 'processing'], to: 'expired' },
  /** The results have been removed. */
  expire: { from: ['completed', 'failed', 'cancelled'], to: 'expired' },
} as const satisfies Record<string, Move>;

export type TransitionName = keyof typeof TRANSITIONS;

export const UNFINISHED: readonly JobState[] = ['pending', 'processing'];

export const isFinal = (state: JobState): boolean => !UNFINISHED.includes(state);

/** Returns the state after a transition; `undefined` if the transition is not valid. */
export function nextState(state: JobState, move: TransitionName): JobState | undefined {
  const { from, to }: Move = TRANSITIONS[move];
  return from.includes(state) ? to : undefined;
}
