/** Checks, their findings, and the format of the printed report. */

/** `absent`: something optional is missing. */
type State = 'ok' | 'absent' | 'warning' | 'broken';

export type Group = 'Machine' | 'Stores' | 'Network guard' | 'Limits' | 'Work' | 'Privacy';

export interface Finding {
  readonly group: Group;
  readonly name: string;
  readonly state: State;
  /** The result in a few words. */
  readonly found: string;
  /** How to fix it. */
  readonly advice?: string | undefined;
}

export type CheckResult = Omit<Finding, 'group' | 'name'>;

export const ok = (found: string): CheckResult => ({ state: 'ok', found });
export const absent = (found: string, advice?: string): CheckResult => ({ state: 'absent', found, advice });
export const warning = (found: string, advice: string): CheckResult => ({ state: 'warning', found, advice });
export const broken = (found: string, advice: string): CheckResult => ({ state: 'broken', found, advice });

export interface Check {
  readonly group: Group;
  readonly name: string;
  readonly run: () => Promise<CheckResult> | CheckResult;
}

const MAX_MESSAGE_CHARACTERS = 300;

/** Runs checks one after another. A check that throws yields a broken finding. */
export async function* runChecks(checks: Iterable<Check>, signal: AbortSignal): AsyncGenerator<Finding> {
  for (const { group, name, run } of checks) {
    signal.throwIfAborted();
    const found = await (async () => run())().catch((error: unknown) => {
      signal.throwIfAborted();
      return broken(
        (error as Error).message.slice(0, MAX_MESSAGE_CHARACTERS),
        'The check itself failed. This is a bug: please report it',
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

/** A report is `ok` unless a finding is broken. */
export const reportOf = (version: string, findings: readonly Finding[]): Report => ({
  ok: findings.every(({ state }) => state !== 'broken'),
  version,
  findings,
});

const NAME_WIDTH = 26;

/** The lines to print for a finding. A heading precedes the first finding of a group. */
export function* linesOf({ group, name, state, found, advice }: Finding, before: Group | undefined): Generator<string> {
  if (group !== before) {
    if (before) yield '';
    yield group;
  }
  yield `  ${state.padEnd(8)} ${name.padEnd(NAME_WIDTH)} ${found}`.trimEnd();
  if (advice) yield `           -> ${advice}`;
}

export function summaryOf({ findings }: Report): string {
  const count = (state: State) => findings.filter((finding) => finding.state === state).length;
  const [failures, warnings] = [count('broken'), count('warning')];
  const of = `of ${findings.length} checks`;
  if (failures) return `${failures} ${of} failed${warnings ? `, ${warnings} with warnings` : ''}.`;
  return warnings
    ? `Everything works; ${warnings} ${of} with warnings.`
    : `Everything works: ${findings.length} checks.`;
}
