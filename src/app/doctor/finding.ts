/** What an examination finds, and how people are told. */

/** `absent`: something that is not needed is not there. */
type State = 'ok' | 'absent' | 'warning' | 'broken';

export type Group = 'Machine' | 'Stores' | 'Way out' | 'Limits' | 'Work' | 'Privacy';

export interface Finding {
  readonly group: Group;
  readonly name: string;
  readonly state: State;
  /** What was found, in a few words. */
  readonly found: string;
  /** What to do about it. */
  readonly advice?: string | undefined;
}

export type Found = Omit<Finding, 'group' | 'name'>;

export const ok = (found: string): Found => ({ state: 'ok', found });
export const absent = (found: string, advice?: string): Found => ({ state: 'absent', found, advice });
export const warning = (found: string, advice: string): Found => ({ state: 'warning', found, advice });
export const broken = (found: string, advice: string): Found => ({ state: 'broken', found, advice });

export interface Check {
  readonly group: Group;
  readonly name: string;
  readonly run: () => Promise<Found> | Found;
}

const MOST_SAID = 300;

/** Runs checks one after the other. One that fails by itself is broken. */
export async function* runChecks(checks: Iterable<Check>, signal: AbortSignal): AsyncGenerator<Finding> {
  for (const { group, name, run } of checks) {
    signal.throwIfAborted();
    const found = await (async () => run())().catch((error: unknown) => {
      signal.throwIfAborted();
      return broken(
        (error as Error).message.slice(0, MOST_SAID),
        'This check did not come to an end: that is a fault of its own',
      );
    });
    yield { group, name, ...found };
  }
}

export interface Report {
  readonly ok: boolean;
  readonly version: string;
  readonly findings: readonly Finding[];
}

/** Only what is broken makes a report bad. */
export const reportOf = (version: string, findings: readonly Finding[]): Report => ({
  ok: findings.every(({ state }) => state !== 'broken'),
  version,
  findings,
});

const WIDTH = 26;

/** A finding in lines; a heading goes before the first of its group. */
export function* linesOf({ group, name, state, found, advice }: Finding, before: Group | undefined): Generator<string> {
  if (group !== before) {
    if (before) yield '';
    yield group;
  }
  yield `  ${state.padEnd(8)} ${name.padEnd(WIDTH)} ${found}`.trimEnd();
  if (advice) yield `           -> ${advice}`;
}

export function summaryOf({ findings }: Report): string {
  const count = (state: State) => findings.filter((finding) => finding.state === state).length;
  const [wrong, doubtful] = [count('broken'), count('warning')];
  const of = `of ${findings.length} checks`;
  if (wrong) return `${wrong} ${of} found something broken${doubtful ? `, ${doubtful} something to look at` : ''}.`;
  return doubtful
    ? `All works; ${doubtful} ${of} found something to look at.`
    : `All is well: ${findings.length} checks.`;
}
