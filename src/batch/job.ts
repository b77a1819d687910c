/** A batch job: its states and the legal moves between them (contract of the model host, 8.3). */

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
  /** Every line has an outcome. */
  complete: { from: ['processing'], to: 'completed' },
  /** Its input cannot be read, or what is wrong is not a line's own. */
  fail: { from: ['pending', 'processing'], to: 'failed' },
  cancel: { from: ['pending', 'processing'], to: 'cancelled' },
  /** Its time is over before it was done. */
  lapse: { from: ['pending', 'processing'], to: 'expired' },
  /** Its files are removed. */
  expire: { from: ['completed', 'failed', 'cancelled'], to: 'expired' },
} as const satisfies Record<string, Move>;

export type MoveName = keyof typeof MOVES;

export const UNFINISHED: readonly JobState[] = ['pending', 'processing'];

export const isFinal = (state: JobState): boolean => !UNFINISHED.includes(state);

/** The state after a move; undefined when it is not legal. */
export function moved(state: JobState, move: MoveName): JobState | undefined {
  const { from, to }: Move = MOVES[move];
  return from.includes(state) ? to : undefined;
}

/** What lines of a job are embedded with, unless a line says otherwise: fields of an embeddings request. */
export type JobOptions = Readonly<Record<string, unknown>>;

/** Times are milliseconds since 1970. */
export interface Job {
  readonly id: string;
  /** Who alone may see it: a key, or everybody of a server without keys. */
  readonly owner: string;
  /** Who pays; null on a server without keys. */
  readonly account: string | null;
  readonly model: string;
  readonly options: JobOptions;
  readonly state: JobState;
  /** Why it failed. */
  readonly error: string | null;
  readonly createdAt: number;
  readonly completedAt: number | null;
  readonly expiresAt: number;
  /** Null until the input was counted. */
  readonly total: number | null;
  readonly completed: number;
  readonly failed: number;
  readonly tokens: number;
  /** How much there is of each file. */
  readonly outputBytes: number;
  readonly errorBytes: number;
  /** Where links to its files begin: `https://models.example`. */
  readonly baseUrl: string;
  readonly webhookUrl: string | null;
}
